"""Bedrock's wire on this machine: an HTTP server that answers InvokeModel and Converse as it is told, one answer a request."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from botocore.config import Config

from keepsake.adapters.aws_clients import make_service_client

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

SECRET = "what the user wrote"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: the operation, the model, the body."""

    operation: str
    model: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answered:
    """What is sent back; `code` is the error's, `delay` in seconds."""

    body: object
    status: int = 200
    code: str = ""
    delay: float = 0.0


Reply = Callable[[Asked], Answered]


@dataclass
class Bedrock:
    """What was asked, and what the next requests get: `replies` in turn, then `usual`."""

    usual: Reply
    replies: list[Reply] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    endpoint: str = ""
    _lock: Lock = field(default_factory=Lock)

    def take(self, asked: Asked) -> Answered:
        with self._lock:
            self.asked.append(asked)
            reply = self.replies.pop(0) if self.replies else self.usual
        return reply(asked)

    def client(self, attempts: int = 2) -> BedrockRuntimeClient:
        """A real client, with less patience than in life."""
        config = Config(connect_timeout=1, read_timeout=0.4, retries={"mode": "standard", "total_max_attempts": attempts})
        client: BedrockRuntimeClient = make_service_client(
            "bedrock-runtime", region="eu-west-1", endpoint=self.endpoint, config=config
        )
        return client


def error(code: str, status: int = 400) -> Reply:
    return lambda _: Answered({"message": f"no: {SECRET}"}, status, code)


def always(body: object, *, delay: float = 0.0) -> Reply:
    return lambda _: Answered(body, delay=delay)


@contextmanager
def bedrock(usual: Reply) -> Iterator[Bedrock]:
    service = Bedrock(usual)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            _, _, model, operation = unquote(self.path).split("/")
            answered = service.take(Asked(operation, model, body))
            time.sleep(answered.delay)
            content = answered.body if isinstance(answered.body, bytes) else json.dumps(answered.body).encode()
            self.send_response(answered.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            if answered.code:
                self.send_header("x-amzn-ErrorType", answered.code)
            self.end_headers()
            try:
                self.wfile.write(content)
            except OSError:  # the other side has given up
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002, ARG002 - the base class says so
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    service.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
