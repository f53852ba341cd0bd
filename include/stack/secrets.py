"""The secrets of the local Airflow: generated once, kept in the state folder, never printed."""

import base64
import os
import secrets
from dataclasses import asdict, dataclass, field

from include.errors import InstallationFault
from include.stack.state import StateFolder, read_json, write_private


@dataclass(frozen=True, kw_only=True)
class StackSecrets:
    """Keys of the local Airflow and the password of its admin; absent from `repr`."""

    fernet_key: str = field(repr=False)
    api_secret_key: str = field(repr=False)
    jwt_secret: str = field(repr=False)
    admin_password: str = field(repr=False)


def load_or_create(state: StateFolder) -> StackSecrets:
    """Return the secrets of this state folder, generated at the first call."""
    if not state.secrets_file.exists():
        write_private(state.secrets_file, asdict(generate()))
    try:
        return StackSecrets(**read_json(state.secrets_file))
    except TypeError as error:
        raise InstallationFault(
            part=str(state.secrets_file),
            found="it does not hold the four secrets of the stack",
            cure="Remove the file; new ones are generated, and a running stack must be restarted.",
        ) from error


def generate() -> StackSecrets:
    """Return new random secrets; the JWT secret is longer than the 64 bytes of HS512."""
    return StackSecrets(
        fernet_key=base64.urlsafe_b64encode(os.urandom(32)).decode("ascii"),
        api_secret_key=secrets.token_urlsafe(48),
        jwt_secret=secrets.token_urlsafe(72),
        admin_password=secrets.token_urlsafe(12),
    )
