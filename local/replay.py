"""Feeds a conversation from a JSON Lines file through the API, each user's turns in the file's order.

It is safe to repeat, since turns carry ids. Messages name lines and fields, never their content.
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
from local.folder import LocalError
from local.tokens import Grant, check
from local.words import counted

WORKERS = 4
MOST_COMPLAINTS = 20
MOST_UNAVAILABLE = 5  # in a row, each after all its repeats
TEXT_FIELDS = ("user_id", "session_id", "turn_id", "role")
OPTIONAL_FIELDS = ("name", "in_reply_to", "occurred_at")
KNOWN_FIELDS = (*TEXT_FIELDS, "content", *OPTIONAL_FIELDS, "clearance")
ROLES = ("user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Line:
    """One turn of the file."""

    number: int
    user_id: str
    session_id: str
    turn: Mapping[str, object]
    grant: Grant  # what its user must be cleared for to say it


@dataclass(frozen=True, slots=True)
class Refused:
    """A turn that was not answered with 2xx."""

    line: int
    status: int
    code: str
    reason: str = ""

    def __str__(self) -> str:
        """As the summary lists it."""
        return f"line {self.line}: {self.status} {self.code}" + (f": {self.reason}" if self.reason else "")


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
            f"{counted(self.turns, 'turn')} in {counted(self.sessions, 'session')} of {counted(self.users, 'user')} "
            f"in {self.seconds:.1f} s ({rate:.0f} a second): "
            f"{self.turns - len(self.refused)} answered 2xx, {self.repeated} of them known already"
        )
        complaints = [str(refused) for refused in self.refused[:MOST_COMPLAINTS]]
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


def replay(lines: Iterable[Line], client: Client, token_for: Callable[[str, Grant], str], *, on_turn: Progress) -> Summary:
    """Post every turn; a refused one does not stop the rest.

    Raises NoServiceError when the service stops answering, LocalError when its store does or it is not the one meant.
    """
    client.health().recognised()
    began = time.monotonic()
    by_user: dict[str, list[Line]] = {}
    for line in lines:
        by_user.setdefault(line.user_id, []).append(line)
    feeder = _Feeder(client, on_turn)
    with ThreadPoolExecutor(WORKERS) as threads:
        for running in [threads.submit(feeder.feed, token_for(user, _joined(turns)), turns) for user, turns in by_user.items()]:
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
            try:
                reply.recognised()
            except LocalError:
                self._gone.set()
                raise
            self._score(line, reply)
            if self._unavailable >= MOST_UNAVAILABLE:
                self._gone.set()
                raise LocalError("the service answers, but its store does not: replay the file again when it does")

    def _score(self, line: Line, reply: Reply) -> None:
        with self._lock:
            self._unavailable = self._unavailable + 1 if reply.status == 503 else 0
            if not reply.ok:
                self.refused.append(Refused(line.number, reply.status, reply.code, reply.reason))
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
    named = [name for name in KNOWN_FIELDS if name not in ("user_id", "session_id") and content.get(name) is not None]
    grant = _grant(content.get("clearance"))
    check(content["user_id"], grant)
    return Line(number, content["user_id"], content["session_id"], {name: content[name] for name in named}, grant)


def _grant(clearance: object) -> Grant:
    """What a turn of this clearance asks of its user, for the forms in which the API takes one. Raises LocalError."""
    given = clearance if isinstance(clearance, dict) else {"level": clearance}
    level, compartments = (0 if given.get("level") is None else given["level"]), given.get("compartments") or []
    words = [each for each in compartments if isinstance(each, str)] if isinstance(compartments, list) else None
    # type(), since True is an int too
    if type(level) is not int or words != compartments or set(given) - {"level", "compartments"}:
        raise LocalError("`clearance` is a level, or an object with `level` and `compartments`")
    return Grant(clearance=level, compartments=tuple(words or ()))


def _joined(lines: Iterable[Line]) -> Grant:
    grants = [line.grant for line in lines]
    compartments = sorted({each for grant in grants for each in grant.compartments})
    return Grant(clearance=max(grant.clearance for grant in grants), compartments=compartments)


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
    if unknown := sorted(set(content) - set(KNOWN_FIELDS)):
        # As JSON writes them: one could hold anything, a terminal's control sequences too.
        named = ", ".join(json.dumps(name[:40]) for name in unknown[:5]) + (", …" if len(unknown) > 5 else "")
        yield f"unknown {'field' if len(unknown) == 1 else 'fields'} {named}; known are {', '.join(KNOWN_FIELDS)}"
