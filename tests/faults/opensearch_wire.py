"""An OpenSearch endpoint that fails as it is told: below the client, on a socket of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRET = "what the user wrote"


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines()]


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back. `cut`: bytes that are promised and not sent."""

    status: int = 200
    body: bytes = b"{}"
    kind: str = "application/json; charset=UTF-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int = 0


Answering = Callable[[Sent], Reply]


class Endpoint:
    """Plays `faults`, one a request, each a reply, what makes one, or None for a connection that is closed; then `answering`."""

    def __init__(self, answering: Answering) -> None:
        self.answering = answering
        self.faults: list[Reply | Answering | None] = []
        self.sent: list[Sent] = []
        self.url = ""

    def reply(self, sent: Sent) -> Reply | None:
        self.sent.append(sent)
        fault = self.faults.pop(0) if self.faults else self.answering
        return fault(sent) if callable(fault) else fault


def as_reply(body: object, status: int = 200) -> Reply:
    return Reply(status, json.dumps(body).encode())


def refused(status: int) -> Reply:
    """As OpenSearch refuses: with a reason that quotes what was sent, and a warning that does, too."""
    error = {"type": f"of {SECRET}", "reason": f"cannot parse {SECRET}"}
    body = json.dumps({"error": {**error, "root_cause": [error]}, "status": status}).encode()
    return Reply(status, body, headers={"Warning": f'299 OpenSearch-2.19.1 "{SECRET}"'})


@contextmanager
def endpoint_on_loopback(answering: Answering) -> Iterator[Endpoint]:
    endpoint = Endpoint(answering)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer in one piece: in two, the second waits for the first one's receipt

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            reply = endpoint.reply(Sent(self.command, self.path, dict(self.headers.items()), body))
            if reply is None:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in {"Content-Type": reply.kind, **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body) + reply.cut))
            self.end_headers()
            self.wfile.write(reply.body)
            self.close_connection = self.close_connection or reply.cut > 0

        do_GET = do_POST = do_PUT = do_DELETE = _any  # noqa: N815 - the names http.server looks for

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
