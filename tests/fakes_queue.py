"""The work queue's plainest reading: a list. In the contract suite, so that what tests see of it is what queues do."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import wraps
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from keepsake.adapters.sqlite_queue import DEDUPLICATION_MS, DEFAULT_RULES, QueueCounts, QueueRules, ReceivedMessage
from keepsake.ports.surroundings import Clock
from keepsake.ports.work_queue import WorkMessage, body_of

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


def _one_at_a_time(call: "Callable[Concatenate[FakeWorkQueue, P], T]") -> "Callable[Concatenate[FakeWorkQueue, P], T]":
    @wraps(call)
    def locked(self: "FakeWorkQueue", /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self.lock:
            return call(self, *args, **kwargs)

    return locked


@dataclass
class _Kept:
    message: ReceivedMessage
    visible_at: int = 0


class FakeWorkQueue:
    """WorkQueue in memory, with the receiving end of the SQLite queue. `sent` lists every message that was ever sent to it."""

    def __init__(self, clock: Clock, rules: QueueRules = DEFAULT_RULES) -> None:
        self.sent: list[WorkMessage] = []
        self.lock = RLock()
        self._clock, self._rules = clock, rules
        self._kept: list[_Kept] = []
        self._dead: list[tuple[int, ReceivedMessage]] = []
        self._seen: dict[str, int] = {}
        self._numbers = count(1)

    @_one_at_a_time
    def send(self, messages: Sequence[WorkMessage]) -> int:
        now = self._clock.now_ms()
        self.sent += messages
        for message in messages:
            if now - self._seen.get(message.deduplication, -DEDUPLICATION_MS) >= DEDUPLICATION_MS:
                self._seen[message.deduplication] = now
                self._put(body_of(message), message.group, message.deduplication)
        return len(messages)

    @_one_at_a_time
    def receive(self, limit: int) -> tuple[ReceivedMessage, ...]:
        now = self._clock.now_ms()
        self._forget(now)
        for kept in [kept for kept in self._open(now) if kept.message.received_count >= self._rules.max_receives]:
            self._kept.remove(kept)
            self._dead.append((now, kept.message))
        taken = self._open(now)[:limit]
        for kept in taken:
            times = kept.message.received_count + 1
            kept.message = replace(
                kept.message,
                receipt=f"{kept.message.sequence}.{times}",
                received_count=times,
                first_received_ms=now if times == 1 else kept.message.first_received_ms,
            )
            kept.visible_at = now + self._rules.visibility_ms
        return tuple(kept.message for kept in taken)

    @_one_at_a_time
    def delete(self, receipt: str) -> bool:
        held = self._held(receipt)
        if held:
            self._kept.remove(held)
        return held is not None

    @_one_at_a_time
    def release(self, receipt: str, *, after_ms: int = 0) -> bool:
        held = self._held(receipt)
        if held:
            held.visible_at = self._clock.now_ms() + after_ms
        return held is not None

    @_one_at_a_time
    def release_all(self) -> None:
        for kept in self._kept:
            kept.visible_at = 0

    @_one_at_a_time
    def counts(self) -> QueueCounts:
        now = self._clock.now_ms()
        waiting = sum(kept.visible_at <= now for kept in self._kept)
        return QueueCounts(waiting, len(self._kept) - waiting, len(self._dead))

    @_one_at_a_time
    def dead_letters(self) -> tuple[ReceivedMessage, ...]:
        return tuple(message for _, message in self._dead)

    @_one_at_a_time
    def redrive(self) -> int:
        dead, self._dead = self._dead, []
        for _, message in dead:
            self._put(message.body, message.group, message.deduplication)
        return len(dead)

    def _put(self, body: str, group: str, deduplication: str) -> None:
        number, now = next(self._numbers), self._clock.now_ms()
        self._kept.append(_Kept(ReceivedMessage(f"message-{number}", "", body, group, deduplication, number, now, 0, 0)))

    def _open(self, now: int) -> list[_Kept]:
        closed = {kept.message.group for kept in self._kept if kept.visible_at > now}
        return [kept for kept in self._kept if kept.message.group not in closed]

    def _held(self, receipt: str) -> _Kept | None:
        now = self._clock.now_ms()
        return next((kept for kept in self._kept if kept.message.receipt == receipt and kept.visible_at > now), None)

    def _forget(self, now: int) -> None:
        self._kept = [kept for kept in self._kept if kept.message.sent_ms > now - self._rules.retention_ms]
        self._dead = [(at, message) for at, message in self._dead if at > now - self._rules.dead_retention_ms]
