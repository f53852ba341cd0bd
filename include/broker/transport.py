"""HTTP to the trading service: only paper or loopback, bounded, a definite no as a value.

alpaca-py sets no timeout, repeats even a POST on 429 and 504, and reports a redirect as success;
all three end here. Questions are asked up to three times, orders and cancels once. The market
side has its own counterpart: siblings share no code. Next: `broker.alpaca`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

import requests
from alpaca.common.exceptions import APIError
from alpaca.trading.client import TradingClient
from requests.adapters import HTTPAdapter

from include.errors import BrokerUnavailable, LiveTradingForbidden

PAPER_HOST = "paper-api.alpaca.markets"
PAPER_KEY_PREFIX = "PK"
RETRY_WAITS_SECONDS = (1.0, 4.0)  # two more tries; Airflow's policy decides on anything longer
UNSETTLING_STATUSES = frozenset({408, 425, 429})  # and every 5xx: the venue may have acted
LONGEST_TEXT = 300


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A definite no of the venue, in its own words; `code` is absent from some bodies.

    `is_readable` is False where the body was no JSON object: then a proxy may have spoken.
    """

    status: int
    code: int | None
    text: str
    is_readable: bool


class BoundedAdapter(HTTPAdapter):
    """Give every call a connect and a read timeout, and turn a redirect into an error."""

    def __init__(self, *, connect_seconds: float, read_seconds: float) -> None:
        self._timeout_seconds = (connect_seconds, read_seconds)
        super().__init__()

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: float | tuple[float, float] | tuple[float, None] | None = None,
        verify: bool | str = True,
        cert: bytes | str | tuple[bytes | str, bytes | str] | None = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Send with our timeout, whatever the caller gave; raise on a 3xx answer."""
        bound = self._timeout_seconds
        response = super().send(request, stream, bound, verify, cert, proxies)
        if 300 <= response.status_code < 400:
            response.close()
            message = f"a redirect ({response.status_code}), which is never followed"
            raise requests.RequestException(message, request=request, response=response)
        return response


def paper_client(
    *, key_id: str, secret_key: str, trading_url: str, adapter: BoundedAdapter
) -> TradingClient:
    """Return alpaca-py's client, bounded and never repeating by itself; no call is made.

    Raise LiveTradingForbidden where the address, the key, or the base that the client ended up
    with could belong to a live account.
    """
    url = trading_url.rstrip("/")
    require_paper(url, key_id=key_id)
    client = TradingClient(key_id, secret_key, paper=True, raw_data=True, url_override=url)
    require_paper(str(client._base_url), key_id=key_id)
    client._retry = 0  # a private name; a test pins it
    client._session.mount("https://", adapter)
    client._session.mount("http://", adapter)
    client._session.trust_env = not _is_loopback(url)
    return client


def require_paper(url: str, *, key_id: str) -> None:
    """Raise LiveTradingForbidden unless URL and key are the paper service's, or it is loopback."""
    if _is_loopback(url):
        return
    parts = urlsplit(url)
    is_paper = parts.scheme == "https" and parts.netloc == PAPER_HOST and not parts.path
    if not is_paper:
        raise LiveTradingForbidden(what="The trading URL", found=url)
    if not key_id.startswith(PAPER_KEY_PREFIX):
        raise LiveTradingForbidden(what="The key id", found=f"{key_id[:2]}...")


def ask(
    client: TradingClient,
    path: str,
    params: Mapping[str, str] | None = None,
    *,
    asked: str,
    pause: Callable[[float], None],
) -> object:
    """Return what a GET answers as JSON, or a Refusal; tried up to three times, growing waits.

    Raise BrokerUnavailable where every try failed in a way that may pass.
    """
    for wait_seconds in RETRY_WAITS_SECONDS:
        try:
            return _ask_once(client, path, params, asked=asked)
        except BrokerUnavailable:
            pause(wait_seconds)
    return _ask_once(client, path, params, asked=asked)


def tell(call: Callable[[], object], *, asked: str) -> object:
    """Return what a POST or DELETE answers, or a Refusal; called exactly once.

    Raise BrokerUnavailable where the answer settles nothing: the venue may have acted or not.
    """
    try:
        return call()
    except APIError as error:
        refusal = _refusal(error)
        if refusal.status in UNSETTLING_STATUSES or not 400 <= refusal.status < 500:
            found = f"status {refusal.status}: {refusal.text}"
            raise BrokerUnavailable(asked=asked, found=found) from error
        return refusal
    except (requests.RequestException, ValueError) as error:
        found = f"{type(error).__name__}: {str(error)[:LONGEST_TEXT]}"
        raise BrokerUnavailable(asked=asked, found=found) from error


def _ask_once(
    client: TradingClient, path: str, params: Mapping[str, str] | None, *, asked: str
) -> object:
    answer = tell(lambda: client.get(path, dict(params or {})), asked=asked)
    if answer is None:
        raise BrokerUnavailable(asked=asked, found="an empty body")
    return answer


def _refusal(error: APIError) -> Refusal:
    # .code and .message parse the body anew and fail on HTML; the raw text always works
    status, text = int(error.status_code or 0), str(error)
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    code = body.get("code") if isinstance(body, dict) else None
    return Refusal(
        status=status,
        code=code if isinstance(code, int) else None,
        text=text[:LONGEST_TEXT],
        is_readable=isinstance(body, dict),
    )


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
