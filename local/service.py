"""The service of one machine: one per data folder, on 127.0.0.1 only, stopped by a signal without losing what it answered."""

import asyncio
import errno
import logging
import os
import shlex
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

import uvicorn

from local.assembly import Assembled, assemble
from local.client import DEFAULT_URL, Client, NoServiceError
from local.cors import checked_origin
from local.demo import play
from local.folder import DEFAULT_FOLDER, DataFolder, LocalError, open_folder

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ServiceWishes:
    """What the command line said."""

    data: Path
    port: int = 3000
    fresh: bool = False
    stores: str = "sqlite"
    endpoint: str | None = None
    demo: bool = False
    cors_origins: Sequence[str] = ()


class StoppedError(KeyboardInterrupt):
    """Somebody asked the service to stop."""


def serve(wishes: ServiceWishes) -> int:
    """Run until stopped; the exit code. Raises LocalError when it cannot start."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    try:
        with ExitStack() as closing:
            return _run(wishes, closing)
    except KeyboardInterrupt:
        print("Stopped.", flush=True)
        return 0


def _run(wishes: ServiceWishes, closing: ExitStack) -> int:
    os.umask(0o077)
    endpoint = _endpoint(wishes)
    origins = [checked_origin(origin) for origin in wishes.cors_origins]
    folder = open_folder(wishes.data)
    closing.enter_context(folder.locked())
    listening = closing.enter_context(_listening(wishes.port))
    if wishes.fresh:
        folder.wipe()
    _log()
    assembled = assemble(folder, endpoint, origins, closing)
    url = f"http://{HOST}:{listening.getsockname()[1]}"
    server = _Server(assembled, lambda: _announce(url, wishes, assembled, folder))
    for notice in assembled.notices:
        print(notice, file=sys.stderr, flush=True)
    for runner in assembled.runners:
        runner.start()
        closing.callback(runner.stop)
    assembled.scheduler.start()
    closing.callback(assembled.scheduler.stop)
    asyncio.run(server.serve(sockets=[listening]))
    return 0


class _Server(uvicorn.Server):
    """uvicorn that tells when it listens."""

    def __init__(self, assembled: Assembled, announce: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                assembled.gateway,
                http="h11",
                ws="none",
                lifespan="off",
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=35,
                h11_max_incomplete_event_size=64 * 1024,
            )
        )
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, and then the announcement."""
        await super().startup(sockets)
        threading.Thread(target=self._announce, name="announcement", daemon=True).start()


def _announce(url: str, wishes: ServiceWishes, assembled: Assembled, folder: DataFolder) -> None:
    """On a thread of its own, since the demo talks to the service that it is started from."""
    try:
        if wishes.demo:
            _play_once(url, folder)
    except NoServiceError:
        return  # stopped while it played
    lines = [
        f"Keepsake serves {url} (stores: {wishes.stores}, data: {wishes.data}). Stop it with Ctrl-C.",
        f"For a token of any user: {_command('token you', folder)}",
    ]
    if wishes.demo:
        lines += ["", "Take a turn yourself:", "", _example(url, assembled.issuer.issue("you"))]
    print("\n".join(lines), flush=True)


def _play_once(url: str, folder: DataFolder) -> None:
    if folder.demo_mark.exists():
        again = _command("demo", folder, *(() if url == DEFAULT_URL else ("--url", url)))
        print(f"The demo was played on this data folder before; to play it again: {again}", flush=True)
    elif play(Client(url, repeats=8), folder) != 0:
        print("The demo did not come out as told; the service keeps running.", file=sys.stderr, flush=True)


def _command(words: str, folder: DataFolder, *more: str) -> str:
    """A command for another terminal, with the folder where it is not the usual one."""
    where = () if folder.path == DEFAULT_FOLDER else ("--data", str(folder.path))
    return f"python -m local {words} {shlex.join((*where, *more))}".rstrip()


def _example(url: str, token: str) -> str:
    return "\n".join(
        (
            f"  curl -s {url}/v1/sessions/first/turns \\",
            f"""    -H "authorization: Bearer {token}" \\""",
            """    -H 'content-type: application/json' \\""",
            """    -d '{"role": "user", "content": "I study type 2 diabetes; just give me the SQL."}'""",
        )
    )


def _log() -> None:
    logging.basicConfig(format="%(asctime)s %(message)s", stream=sys.stderr)
    level = os.environ.get("LOG_LEVEL", "WARNING").upper()
    if level not in logging.getLevelNamesMapping():
        raise LocalError("LOG_LEVEL is DEBUG, INFO, WARNING or ERROR")
    logging.getLogger("keepsake.local").setLevel(level)


def _endpoint(wishes: ServiceWishes) -> str | None:
    if wishes.stores == "sqlite":
        if wishes.endpoint:
            raise LocalError("--endpoint belongs to --stores dynamodb")
        return None
    if not wishes.endpoint or urlsplit(wishes.endpoint).scheme not in ("http", "https"):
        raise LocalError(
            "--stores dynamodb needs --endpoint with the address of a DynamoDB endpoint, such as http://127.0.0.1:5000"
        )
    return wishes.endpoint


def _listening(port: int) -> socket.socket:
    """Bound before anything is touched, so that a busy port costs nothing."""
    # The protocol is named because asyncio sets TCP_NODELAY only then: else each answer waits 40 ms for an acknowledgement.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen(512)
    except (OSError, OverflowError) as error:
        listening.close()
        why = "is in use" if isinstance(error, OSError) and error.errno == errno.EADDRINUSE else "cannot be used"
        raise LocalError(f"port {port} {why}: name another one with --port (under make: PORT=3001)") from None
    return listening


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise StoppedError
