"""The keys of the exchange: made once, and kept in the state folder for their owner alone.

Every route wants them but those of crypto market data, as at the venue.
"""

import json
import secrets
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fastapi import Request

from include.errors import ExchangeError
from include.exchange.queries import Refused
from include.exchange.refusals import Refusal

_FILE_NAME = "keys.json"
_KEY_ALPHABET = string.ascii_uppercase + string.digits
_SECRET_ALPHABET = string.ascii_letters + string.digits


@dataclass(frozen=True, kw_only=True)
class Keys:
    """A key id, which begins with PK as a paper key does, and its secret."""

    key_id: str
    secret_key: str = field(repr=False)

    def match(self, headers: Mapping[str, str]) -> bool:
        """Say whether a request's headers carry these keys, in constant time."""
        key_id = headers.get("APCA-API-KEY-ID", "").encode()
        secret_key = headers.get("APCA-API-SECRET-KEY", "").encode()
        same_id = secrets.compare_digest(key_id, self.key_id.encode())
        return secrets.compare_digest(secret_key, self.secret_key.encode()) and same_id


def generate_keys() -> Keys:
    """Return new random keys."""
    return Keys(
        key_id="PK" + "".join(secrets.choice(_KEY_ALPHABET) for _ in range(18)),
        secret_key="".join(secrets.choice(_SECRET_ALPHABET) for _ in range(40)),
    )


def keys_in(folder: Path | None, *, key_id: str | None, secret_key: str | None) -> Keys:
    """Return the given keys, else the folder's, else new ones; and keep them in the folder."""
    path = None if folder is None else folder / _FILE_NAME
    if key_id and secret_key:
        keys = Keys(key_id=key_id, secret_key=secret_key)
    elif key_id or secret_key:
        message = "Key id and secret key belong together; give both or neither."
        raise ExchangeError(message)
    else:
        keys = (path and _load(path)) or generate_keys()
    if path is not None:
        _save(keys, path)
    return keys


def _load(path: Path) -> Keys | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Keys(key_id=found["key_id"], secret_key=found["secret_key"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = (
            f"The exchange's keys {path} can't be read: {error!r}. Remove the file for new ones."
        )
        raise ExchangeError(message) from error


def _save(keys: Keys, path: Path) -> None:
    """Write the keys so that only their owner can read them, in one step."""
    body = json.dumps({"key_id": keys.key_id, "secret_key": keys.secret_key})
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    fresh.touch(mode=0o600)
    fresh.write_text(body, encoding="utf-8")
    fresh.replace(path)


async def require_keys(request: Request) -> None:
    """Refuse a request without the right keys, in the venue's words."""
    keys: Keys = request.app.state.keys
    if not keys.match(request.headers):
        raise Refused(Refusal(status=401, message="unauthorized."))
