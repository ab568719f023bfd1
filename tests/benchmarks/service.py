"""Turns over HTTP against the local service, a process of its own: its processor time, its memory, and its round trips."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from keepsake.domain.turns import Role
from local.client import Reply
from tests.benchmarks.in_process import PROFILE, SESSION, USER
from tests.benchmarks.measuring import table
from tests.system.running import Service, running

SHOWN_TURNS = (1, 10, 100, 1000)
_TICKS = os.sysconf("SC_CLK_TCK")


class OverHttp:
    """Posts turns with one connection, kept alive, and notes the round trips that the service counted."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.calls: dict[int, str] = {}
        self._client = service.client(USER)
        self._taken = 0
        _accepted(self._client.call("PUT", "/v1/profile", PROFILE))

    def prepared(self, role: Role, text: str) -> Callable[[], object]:
        """See Taker."""
        return lambda: self._take({"role": role, "content": text})

    def _take(self, turn: Mapping[str, object]) -> None:
        reply = _accepted(self._client.post_turn(SESSION, turn))
        self._taken += 1
        if self._taken in SHOWN_TURNS:
            self.calls[self._taken] = reply.headers["x-keepsake-calls"]

    @property
    def taken(self) -> int:
        """How many turns were taken."""
        return self._taken

    def cpu_ms(self) -> float | None:
        """Processor time of the service so far; None where the system does not tell."""
        fields = _proc(self.service.process.pid, "stat")
        if fields is None:
            return None
        user, system = fields.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) * 1000 / _TICKS

    def resident_mb(self) -> float | None:
        """Resident memory of the service; None where the system does not tell."""
        status = _proc(self.service.process.pid, "status") or ""
        sizes = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
        return int(sizes[0]) / 1024 if sizes else None


@contextmanager
def served(folder: Path) -> Iterator[OverHttp]:
    """A service on embedded stores in a new folder."""
    with running(folder / "service") as service:
        yield OverHttp(service)


def report(taker: OverHttp, memory: Mapping[str, float | None]) -> str:
    """Memory and round trips."""
    resident = [[when, "not told here" if size is None else f"{size:.0f} MB"] for when, size in memory.items()]
    calls = [[number, seen] for number, seen in sorted(taker.calls.items())]
    return "\n".join(
        (
            table("Resident memory of the local service", ["when", "memory"], resident),
            table("Round trips of one user's turns (x-keepsake-calls)", ["turn", "calls"], calls),
        )
    )


def _accepted(reply: Reply) -> Reply:
    if not reply.ok:
        raise AssertionError(f"the service refused: {reply.status} {reply.code}")
    return reply


def _proc(process: int, name: str) -> str | None:
    try:
        return Path(f"/proc/{process}/{name}").read_text()
    except OSError:
        return None
