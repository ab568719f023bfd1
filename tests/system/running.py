"""The local service as a process of its own, as a person starts it."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local.client import Client
from local.folder import open_folder
from local.tokens import Grant, TokenIssuer

ROOT = Path(__file__).resolve().parents[2]
USUALLY = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "KEEPSAKE_EMBEDDER": "hashing",
    "OPENSEARCH_URL": "",
}


@dataclass(frozen=True, slots=True)
class Service:
    """A running service and the data folder it runs on."""

    url: str
    data: Path
    process: "subprocess.Popen[str]"
    stores: str = "sqlite"
    said: list[str] = field(default_factory=list)

    @property
    def issuer(self) -> TokenIssuer:
        """The data folder's own issuer."""
        return TokenIssuer(open_folder(self.data).token_key)

    def client(self, user: str, grant: Grant | None = None, *, repeats: int = 0) -> Client:
        """A client with a token of this user."""
        return Client(self.url, self.issuer.issue(user, grant), repeats)

    def admin(self) -> Client:
        """A client of an admin's."""
        return self.client("admin", Grant(admin=True))

    def tick(self) -> dict[str, Any]:
        """Run the schedules for everything that waits, and wait for the queues."""
        reply = Client(self.url, self.issuer.issue_control()).call("POST", "/local/tick", {"run": "all"})
        assert reply.ok, (reply.status, reply.reason)
        return reply.json

    def kill(self) -> None:
        """As `kill -9` does."""
        self.process.kill()
        self.process.wait(20)

    def stop(self) -> int:
        """As Ctrl-C does; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


def local(*arguments: str, timeout: float = 60) -> "subprocess.CompletedProcess[str]":
    """Run one command of the command line."""
    return subprocess.run(
        [sys.executable, "-m", "local", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False
    )


def assert_one_line(complaint: str, *words: str) -> None:
    """That a command was refused in one line, with these words."""
    assert complaint.startswith("keepsake: ")
    assert complaint.count("\n") == 1, complaint
    for word in words:
        assert word in complaint


@contextmanager
def running(data: Path, *more: str, stores: str = "sqlite", **environment: str) -> Iterator[Service]:
    """A service on a free port, killed in the end if it still runs. What it says on either stream is in `said`.

    It embeds without a model, which starts sooner; KEEPSAKE_EMBEDDER="" takes the best embedder that runs here.
    """
    command = [sys.executable, "-u", "-m", "local", "serve", "--port", "0", "--data", str(data), "--stores", stores, *more]
    settings = {**os.environ, **USUALLY, **environment}
    with subprocess.Popen(
        command, cwd=ROOT, env=settings, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        said: list[str] = []
        url = ""
        for line in process.stdout:
            said.append(line.rstrip("\n"))
            if found := re.match(r"Keepsake serves (\S+)", line):
                url = found.group(1)
                break
        reader = threading.Thread(target=lambda: said.extend(line.rstrip("\n") for line in process.stdout or ()), daemon=True)
        reader.start()
        try:
            assert url, f"the service did not start: {said}"
            yield Service(url, data, process, stores, said)
        finally:
            process.kill()
            reader.join(20)


@contextmanager
def moto() -> Iterator[str]:
    """The address of a DynamoDB that holds nothing yet."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.system.moto_service"]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
