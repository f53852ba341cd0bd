"""A loopback HTTP server that answers by script and records what it was asked.

For adapters' tests: every trap of the wire (silence, dropped connection, HTML, redirect, a lost
answer after the act) is one `Reply`. It knows nothing of trading.
"""

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One request as it came over the wire."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer: JSON unless `text` is given; or none at all (hang up, or stay mute)."""

    status: int = 200
    body: Any = None
    text: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    hangs_up: bool = False
    stays_mute: bool = False
    claims_more: bool = False

    def content(self) -> bytes:
        """Return the bytes of the body."""
        return (json.dumps(self.body) if self.text is None else self.text).encode()


Script = Reply | Callable[[Seen], Reply]


class ScriptedServer:
    """Answers per "METHOD /path": the queued replies in turn, the last one for ever."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self._scripts: dict[str, deque[Script]] = defaultdict(deque)
        self._stopped = threading.Event()
        server = self

        class Answering(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                server._handle(self)

            do_GET = do_POST = do_DELETE = do_PATCH = _answer  # noqa: N815 - http.server's names

            def log_message(self, format: str, *args: Any) -> None:
                """Stay quiet."""

        self._httpd = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self._httpd.daemon_threads = True
        self._thread = threading.Thread(
            target=self._httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Base address."""
        return f"http://127.0.0.1:{self._httpd.server_address[1]}"

    def script(self, route: str, *replies: Script) -> None:
        """Queue replies for a route such as "POST /v2/orders"."""
        self._scripts[route].extend(replies)

    def count(self, route: str) -> int:
        """Return how often a route was asked."""
        return sum(f"{each.method} {each.path}" == route for each in self.seen)

    def stop(self) -> None:
        """Release mute calls and close."""
        self._stopped.set()
        self._httpd.shutdown()
        self._httpd.server_close()
        self._thread.join()

    def _handle(self, request: BaseHTTPRequestHandler) -> None:
        seen = _seen(request)
        self.seen.append(seen)
        reply = self._next(seen)
        if reply.stays_mute:
            self._stopped.wait()
        if reply.hangs_up or reply.stays_mute:
            request.close_connection = True
            return
        content = reply.content() if reply.status != 204 else b""
        request.send_response(reply.status)
        for name, value in reply.headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(content) + 10 * reply.claims_more))
        request.end_headers()
        request.wfile.write(content)
        request.close_connection = reply.claims_more

    def _next(self, seen: Seen) -> Reply:
        scripts = self._scripts[f"{seen.method} {seen.path}"]
        if not scripts:
            return Reply(status=404, text="<html>no such page</html>")
        script = scripts.popleft() if len(scripts) > 1 else scripts[0]
        return script if isinstance(script, Reply) else script(seen)


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    """Run a server for the length of a test."""
    server = ScriptedServer()
    try:
        yield server
    finally:
        server.stop()


def _seen(request: BaseHTTPRequestHandler) -> Seen:
    parts = urlsplit(request.path)
    length = int(request.headers.get("Content-Length") or 0)
    raw = request.rfile.read(length)
    return Seen(
        method=request.command,
        path=parts.path,
        query={name: values[0] for name, values in parse_qs(parts.query).items()},
        headers=dict(request.headers.items()),
        body=json.loads(raw) if raw else None,
    )
