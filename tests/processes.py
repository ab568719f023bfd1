"""Processes that die: after a given number of calls to what lies outside of them, nothing of theirs is heard any more.

Also a hash over all that a process leaves behind, to compare what became of the same events on two ways.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeVar, cast

from keepsake.config import Settings
from keepsake.domain.errors import IndexUnavailableError, ModelUnavailableError, QueueUnavailableError, StoreUnavailableError
from keepsake.domain.profile_records import from_record
from keepsake.domain.sanitizing import SanitizedText
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import Embedder, EmbeddingModel, Purpose
from keepsake.ports.item_store import Item, Key, Table, Value
from keepsake.ports.language_model import LanguageModel
from keepsake.repositories.keys import CHAIN_HEAD, LEASE, PROFILE
from keepsake.repositories.records import unpacked
from tests.fakes import DictItemStore, FakeClock
from tests.fakes_index import DictSearchIndex
from tests.fakes_queue import FakeWorkQueue
from tests.world import World

T = TypeVar("T")


class KilledError(BaseException):
    """The process is no more. Not an Exception, so that nothing takes it for a failure of what was called."""


@dataclass
class Life:
    """Counts calls; the process dies `before` or `after` the call of number `ends_at` took effect. None: it lives on.

    With `spared` that call only fails, as what is called does, and the process goes on.
    """

    ends_at: int | None = None
    when: str = "before"
    calls: int = 0
    dead: bool = False
    spared: bool = False
    names: list[str] = field(default_factory=list)

    def call(self, name: str, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        if self.dead:
            raise KilledError
        number, self.calls = self.calls, self.calls + 1
        self.names.append(name)
        ends = number == self.ends_at
        self.dead = ends and not self.spared
        if ends and self.when == "before":
            raise self._end(name)
        answer = function(*args, **named)
        if ends:
            raise self._end(name)
        return answer

    def _end(self, name: str) -> BaseException:
        kinds = {"Store": StoreUnavailableError, "Index": IndexUnavailableError, "Queue": QueueUnavailableError}
        failure = next((kind for part, kind in kinds.items() if part in name), ModelUnavailableError)
        return failure("not now") if self.spared else KilledError()


class _Mortal:
    """Stands in front of something outside of a process. What is listed as `free` is no call of the process."""

    def __init__(self, target: Any, life: Life, free: tuple[str, ...]) -> None:
        self._target, self._life, self._free = target, life, free

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if name in self._free or not callable(found):
            return found
        where = f"{type(self._target).__name__}.{name}"
        return lambda *args, **named: self._life.call(where, found, *args, **named)


class SmallEmbedder:
    """A direction of few dimensions for each text, since here only what becomes of it is looked at."""

    def __init__(self, name: str = "small", dimensions: int = 4) -> None:
        self.model = EmbeddingModel(name, dimensions)

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:  # noqa: ARG002 - as the port says
        return tuple(self._vector(each.text) for each in texts)

    def _vector(self, text: str) -> Vector:
        return Vector.of([float(byte) - 127 for byte in sha256(text.encode()).digest()[: self.model.dimensions]])


def mortal(target: T, life: Life, *free: str) -> T:
    """The same, as one process has it."""
    return cast(T, _Mortal(target, life, free))


@dataclass
class Machine:
    """All that outlives processes. `copied` gives one that goes another way from the same state."""

    store: DictItemStore = field(default_factory=DictItemStore)
    index: DictSearchIndex = field(default_factory=DictSearchIndex)
    clock: FakeClock = field(default_factory=FakeClock)
    embedder: Embedder = field(default_factory=SmallEmbedder)
    model: LanguageModel | None = None
    settings: Settings | None = None

    def __post_init__(self) -> None:
        self.queue = FakeWorkQueue(self.clock)

    def process(self, life: Life | None = None) -> World:
        """A process: nothing that another one kept in memory is known to it."""
        life = life or Life()
        world = World(
            mortal(self.store, life),
            self.clock,
            index=mortal(self.index, life),
            embedder=mortal(self.embedder, life),
            model=mortal(self.model, life) if self.model else None,
            settings=self.settings,
        )
        # Receiving and deleting is done by the event source, which lives on.
        world.queue = mortal(self.queue, life, "receive", "delete", "release", "release_all", "counts", "dead_letters")
        return world

    def copied(self) -> "Machine":
        other = Machine(clock=FakeClock(self.clock.ms), embedder=self.embedder, model=self.model, settings=self.settings)
        other.store._items = dict(self.store._items)
        other.index._current = self.index._current
        other.index._indexes = {name: copy(index) for name, index in self.index._indexes.items()}
        for index in other.index._indexes.values():
            index.documents = dict(index.documents)
        other.queue._seen = dict(self.queue._seen)
        other.queue._kept = [copy(kept) for kept in self.queue._kept]
        return other

    def settled(self, most: int = 6) -> None:
        """Let leases and visibility run out, plan and work until nothing is left to do."""
        for _ in range(most):
            self.clock.advance(minutes=61)
            self.queue.release_all()
            world = self.process()
            world.plan()
            failed = world.work()
            if not failed and self.queue.counts().waiting == 0 and not self.pending():
                return
        raise AssertionError("there is still something to do")

    def pending(self) -> list[Key]:
        return [key for key, item in self.store._items.items() if "pending_shard" in item.attributes]

    def strays(self) -> list[str]:
        """Documents of the index that no pointer leads to, whoever owns them."""
        pointers = {(key.partition, key.sort) for key in self.store._items if key.table is Table.POINTERS}
        return [
            name for index in self.index._indexes.values() for owner, name in index.documents if (owner, name) not in pointers
        ]

    def state(self, *, versions: bool = False) -> Mapping[str, object]:
        """What is there, by name, without audit, leases, attempts and times of processing; with versions only if wanted."""
        found: dict[str, object] = {}
        for key, item in self.store._items.items():
            if key.table is not Table.AUDIT and not _is_passing(key):
                found[f"{key.table} {key.partition} {key.sort}"] = _compared(item, versions=versions)
        for name, index in self.index._indexes.items():
            found |= {f"index {name} {key}": str(document) for key, document in index.documents.items()}
        counts = self.queue.counts()
        found["queue"] = (counts.waiting, counts.in_flight, counts.dead)
        found["alias"] = self.index._current
        return found

    def hash(self, *, versions: bool = False) -> str:
        state = self.state(versions=versions)
        return sha256(json.dumps(state, sort_keys=True, default=str).encode()).hexdigest()


def difference(one: Machine, other: Machine, *, versions: bool = False) -> dict[str, tuple[object, object]]:
    """What two machines have that is not the same, for people who look for the reason."""
    left, right = one.state(versions=versions), other.state(versions=versions)
    names = {*left, *right}
    return {name: (left.get(name), right.get(name)) for name in names if left.get(name) != right.get(name)}


_PROCESSING = ("chain_sequence", "chain_hash", "chain_proof", "started_at", "updated_at", "completed_at", "checked_at")


def _is_passing(key: Key) -> bool:
    return key.table is Table.CONTROL and (key.sort in (LEASE, CHAIN_HEAD) or str(key.sort).startswith("attempts#"))


def _compared(item: Item, *, versions: bool) -> dict[str, object]:
    left_out = (*_PROCESSING, *(() if versions else ("version",)))
    attributes: dict[str, Value] = {name: value for name, value in item.attributes.items() if name not in left_out}
    body = attributes.pop("body", None)
    if not isinstance(body, bytes):
        return dict(attributes)
    content = unpacked(body)
    return {**attributes, "body": _in_any_order(content) if item.key.sort == PROFILE else content}


def _in_any_order(record: Any) -> object:
    """A profile's content: its lists have no order, and its weights are the same in any order up to rounding."""
    profile = from_record(record)
    entries = (profile.interests, profile.preferences, profile.frequently_used, profile.expertise)
    return [sorted(str((entry.name, entry.at_ms, round(entry.weight, 6))) for entry in some) for some in entries]
