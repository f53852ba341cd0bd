"""HTTP to the data service: bounded, retried a little, its errors translated.

alpaca-py sets no timeout, repeats calls by its own rule and reports a redirect as success; all
three end here. `broker.transport` holds the trading side's counterpart: siblings share no code,
and an order must never inherit what is right for a question. Next: `market.alpaca`.
"""

from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import requests
from alpaca.common.exceptions import APIError
from alpaca.common.rest import RESTClient
from requests.adapters import HTTPAdapter

from include.errors import MarketDataRefused, MarketDataUnavailable

RETRY_WAITS_SECONDS = (1.0, 4.0)  # two more tries; Airflow's policy decides on anything longer
TRANSIENT_STATUSES = frozenset({408, 425, 429})  # and every 5xx
LONGEST_TEXT = 300


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


def bound_client(client: RESTClient, url: str, adapter: BoundedAdapter) -> None:
    """Mount the adapter, switch the client's own repeating off, and keep loopback off proxies."""
    client._retry = 0  # a private name; a test pins it
    session = client._session
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    session.trust_env = not is_loopback(url)


def is_loopback(url: str) -> bool:
    """Tell whether a URL's host is this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def ask(
    client: RESTClient,
    path: str,
    params: Mapping[str, str],
    *,
    asked: str,
    pause: Callable[[float], None],
) -> dict[str, Any]:
    """Return the JSON object that a GET answers, tried up to three times with growing waits.

    Raise MarketDataUnavailable where every try failed in a way that may pass (timeout, dropped
    connection, 408, 425, 429, 5xx, unreadable body), MarketDataRefused on any other 4xx at once.
    """
    for wait_seconds in RETRY_WAITS_SECONDS:
        try:
            return _ask_once(client, path, params, asked=asked)
        except MarketDataUnavailable:
            pause(wait_seconds)
    return _ask_once(client, path, params, asked=asked)


def _ask_once(
    client: RESTClient, path: str, params: Mapping[str, str], *, asked: str
) -> dict[str, Any]:
    try:
        answer: object = client.get(path, dict(params))
    except APIError as error:
        raise _translated(error, asked=asked) from error
    except (requests.RequestException, ValueError) as error:
        found = f"{type(error).__name__}: {str(error)[:LONGEST_TEXT]}"
        raise MarketDataUnavailable(asked=asked, found=found) from error
    if not isinstance(answer, dict):
        found = "an empty body" if answer is None else f"a {type(answer).__name__}, not an object"
        raise MarketDataUnavailable(asked=asked, found=found)
    return answer


def _translated(error: APIError, *, asked: str) -> MarketDataUnavailable | MarketDataRefused:
    # .code and .message parse the body anew and fail on HTML; the raw text always works
    status, text = int(error.status_code or 0), str(error)[:LONGEST_TEXT]
    if status in TRANSIENT_STATUSES or not 400 <= status < 500:
        return MarketDataUnavailable(asked=asked, found=f"status {status}: {text}")
    return MarketDataRefused(asked=asked, status=status, text=text)
