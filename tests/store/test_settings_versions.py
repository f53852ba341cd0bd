"""Settings versions."""


def test_settings_of_a_hash_stay_as_first_saved(uow):
    """A hash stands for one set of settings for ever."""
    uow.settings_versions.save("hash", {"b": 1, "a": {"c": "**********"}})
    uow.settings_versions.save("hash", {"b": 2})
    assert uow.settings_versions.by_hash("hash") == {"b": 1, "a": {"c": "**********"}}
    assert uow.settings_versions.by_hash("other") is None
