"""The venue's business answers of "no": a status, a code and a text, returned as a value.

Codes and texts are Alpaca's as documented or observed; each stands where its rule is checked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

MALFORMED_REQUEST = 40010000
INVALID_PARAMETER = 40010001
FORBIDDEN = 40310000
NOT_FOUND = 40410000
UNPROCESSABLE = 42210000


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An HTTP status with the body's code, message and further fields; some have no code."""

    status: int
    message: str
    code: int | None = None
    details: Mapping[str, object] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return the body of the answer."""
        code = {} if self.code is None else {"code": self.code}
        return {**code, "message": self.message, **self.details}


def invalid(message: str) -> Refusal:
    """Return 422 for a parameter that can't be understood or is missing."""
    return Refusal(status=422, code=INVALID_PARAMETER, message=message)


def unprocessable(message: str) -> Refusal:
    """Return 422 for a request that is understood and breaks a rule of orders."""
    return Refusal(status=422, code=UNPROCESSABLE, message=message)


def forbidden(message: str, **details: object) -> Refusal:
    """Return 403 for a request that the account or the asset does not allow."""
    return Refusal(status=403, code=FORBIDDEN, message=message, details=details)


def not_found(message: str) -> Refusal:
    """Return 404 for a thing that does not exist."""
    return Refusal(status=404, code=NOT_FOUND, message=message)


def bad_request(message: str) -> Refusal:
    """Return 400 without a code, as the market-data service does."""
    return Refusal(status=400, message=message)
