"""Feeds a conversation from a JSON Lines file through the API, each user's turns in the file's order.

It is safe to repeat, since turns carry ids. Messages name lines, never their content.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Never, Protocol

from tqdm import tqdm

from local.client import Client, NoServiceError, Reply
from local.folder import FOREIGN_KEY, LocalError

WORKERS = 4
MOST_COMPLAINTS = 20
MOST_UNAVAILABLE = 5  # in a row, each after all its repeats
TEXT_FIELDS = ("user_id", "session_id", "turn_id", "role")
OPTIONAL_FIELDS = ("name", "occurred_at")
ROLES = ("user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Line:
    """One turn of the file."""

    number: int
    user_id: str
    session_id: str
    turn: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Refused:
    """A turn that was not answered with 2xx."""

    line: int
    status: int
    code: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of a replay."""

    turns: int
    users: int
    sessions: int
    seconds: float
    repeated: int
    refused: tuple[Refused, ...]

    def __str__(self) -> str:
        """As the command line prints it."""
        rate = self.turns / self.seconds if self.seconds else 0.0
        head = (
            f"{self.turns} turns in {self.sessions} sessions of {self.users} {'user' if self.users == 1 else 'users'} "
            f"in {self.seconds:.1f} s ({rate:.0f} a second): "
            f"{self.turns - len(self.refused)} answered 2xx, {self.repeated} of them known already"
        )
        complaints = [f"line {refused.line}: {refused.status} {refused.code}" for refused in self.refused[:MOST_COMPLAINTS]]
        if len(self.refused) > MOST_COMPLAINTS:
            complaints.append(f"and {len(self.refused) - MOST_COMPLAINTS} more")
        return "\n".join([head, *complaints])


class Progress(Protocol):
    """What shows how far a replay is."""

    def update(self, n: float | None = 1) -> object:
        """Some turns more."""
        ...


def read_lines(path: Path) -> list[Line]:
    """The turns of the file. Raises LocalError that names each bad line, before anything is sent."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise LocalError(f"{path} cannot be read: {error.strerror}") from None
    lines, complaints = [], []
    for number, text in enumerate(raw.split(b"\n"), start=1):
        if not text.strip():
            continue
        try:
            lines.append(_line(number, text))
        except LocalError as complaint:
            complaints.append(f"line {number}: {complaint}")
    if complaints:
        more = f"\nand {len(complaints) - MOST_COMPLAINTS} more" if len(complaints) > MOST_COMPLAINTS else ""
        raise LocalError(
            "nothing was sent, since the file does not hold turns:\n" + "\n".join(complaints[:MOST_COMPLAINTS]) + more
        )
    if not lines:
        raise LocalError(f"{path} holds no turn")
    return lines


def replay(lines: Iterable[Line], client: Client, token_for: Callable[[str], str], *, on_turn: Progress) -> Summary:
    """Post every turn; a refused one does not stop the rest.

    Raises NoServiceError when the service stops answering, LocalError when its store does or it is not the one meant.
    """
    began = time.monotonic()
    by_user: dict[str, list[Line]] = {}
    for line in lines:
        by_user.setdefault(line.user_id, []).append(line)
    feeder = _Feeder(client, on_turn)
    with ThreadPoolExecutor(WORKERS) as threads:
        for running in [threads.submit(feeder.feed, token_for(user), of_user) for user, of_user in by_user.items()]:
            running.result()
    everything = [line for of_user in by_user.values() for line in of_user]
    return Summary(
        turns=len(everything),
        users=len(by_user),
        sessions=len({(line.user_id, line.session_id) for line in everything}),
        seconds=time.monotonic() - began,
        repeated=feeder.repeated,
        refused=tuple(sorted(feeder.refused, key=lambda refused: refused.line)),
    )


def progress(total: int) -> "tqdm[Never] | LineCount":
    """A bar where somebody watches, else a line now and then, on stderr."""
    if sys.stderr.isatty():
        return tqdm(total=total, unit="turn", file=sys.stderr, dynamic_ncols=True)
    return LineCount(total)


class LineCount:
    """Says every tenth of the way how far it is."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._seen = 0
        self._lock = threading.Lock()

    def update(self, n: float | None = 1) -> None:
        """Some turns more."""
        with self._lock:
            before, self._seen = self._seen, self._seen + int(n or 0)
            if before * 10 // self._total != self._seen * 10 // self._total:
                print(f"{self._seen} of {self._total} turns", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing to close."""


class _Feeder:
    """Posts users' turns from several threads and keeps the score. One that finds no service, or a foreign one, stops all."""

    def __init__(self, client: Client, on_turn: Progress) -> None:
        self._client = client
        self._on_turn = on_turn
        self._lock = threading.Lock()
        self._gone = threading.Event()
        self._unavailable = 0
        self.repeated = 0
        self.refused: list[Refused] = []

    def feed(self, token: str, lines: Iterable[Line]) -> None:
        client = self._client.as_user(token)
        for line in lines:
            if self._gone.is_set():
                return
            try:
                reply = client.post_turn(line.session_id, line.turn)
            except NoServiceError:
                self._gone.set()
                raise
            if reply.status == 401:
                self._gone.set()
                raise LocalError(FOREIGN_KEY)
            self._score(line, reply)
            if self._unavailable >= MOST_UNAVAILABLE:
                self._gone.set()
                raise LocalError("the service answers, but its store does not: replay the file again when it does")

    def _score(self, line: Line, reply: Reply) -> None:
        with self._lock:
            self._unavailable = self._unavailable + 1 if reply.status == 503 else 0
            if not reply.ok:
                self.refused.append(Refused(line.number, reply.status, reply.code))
            elif reply.json["turn"]["replayed"]:
                self.repeated += 1
            self._on_turn.update(1)


def _line(number: int, text: bytes) -> Line:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise LocalError("not JSON") from None
    if not isinstance(content, dict):
        raise LocalError("not a JSON object")
    for complaint in _complaints(content):
        raise LocalError(complaint)
    turn = {
        name: content[name] for name in ("turn_id", "role", "name", "content", "occurred_at") if content.get(name) is not None
    }
    return Line(number, content["user_id"], content["session_id"], turn)


def _complaints(content: Mapping[str, object]) -> Iterable[str]:
    for name in TEXT_FIELDS:
        value = content.get(name)
        if not isinstance(value, str) or not value.strip():
            yield f"`{name}` is missing, blank or not text"
    for name in OPTIONAL_FIELDS:
        if not isinstance(content.get(name), str | None):
            yield f"`{name}` is not text"
    if not isinstance(content.get("content"), str | list):
        yield "`content` is missing, or neither text nor a list of parts"
    if content.get("role") not in ROLES:
        yield f"`role` is one of {', '.join(ROLES)}"
    if unknown := set(content) - {*TEXT_FIELDS, *OPTIONAL_FIELDS, "content"}:
        yield f"{len(unknown)} unknown field(s); known are {', '.join((*TEXT_FIELDS, 'content', *OPTIONAL_FIELDS))}"
