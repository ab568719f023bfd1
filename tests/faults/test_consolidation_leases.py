"""One worker at a time for a user: whoever has lost its lease, or works under an older revision, writes nothing any more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from keepsake.domain.search import IndexDocument
from keepsake.ports.item_store import Item, Put, Table, Write
from keepsake.ports.search_index import Location, NotIndexed
from keepsake.repositories.keys import Keys
from tests.fakes import DictItemStore
from tests.fakes_index import DictSearchIndex
from tests.processes import Machine, difference
from tests.world import World

OWN_TABLES = (Table.LONG_TERM, Table.POINTERS, Table.TURNS)


@dataclass
class Interruption:
    """Lets something happen before the write of a given number, of the one worker that is watched. `after` is written later."""

    at: int = -1
    happens: Callable[[], object] = lambda: None
    calls: list[str] = field(default_factory=list)
    after: list[Write | IndexDocument] = field(default_factory=list)

    def before(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) - 1 == self.at:
            self.happens()

    def wrote(self, written: Sequence[Write | IndexDocument]) -> None:
        if 0 <= self.at < len(self.calls):
            self.after += written


class WatchedStore(DictItemStore):
    def __init__(self, machine: Machine, interruption: Interruption) -> None:
        super().__init__()
        self._items, self._interruption = machine.store._items, interruption

    def transact(self, writes: Sequence[Write]) -> None:
        self._interruption.before("transact")
        super().transact(writes)
        self._interruption.wrote(writes)


class WatchedIndex(DictSearchIndex):
    def __init__(self, machine: Machine, interruption: Interruption) -> None:
        super().__init__()
        self._indexes, self._current, self._interruption = machine.index._indexes, machine.index._current, interruption

    def put(self, documents: Sequence[IndexDocument], *, index: str) -> tuple[Location | NotIndexed, ...]:
        self._interruption.before("put")
        outcomes = super().put(documents, index=index)
        self._interruption.wrote(documents)
        return outcomes


def spoken() -> Machine:
    """A user of whom something is known already, and who went on."""
    machine = Machine()
    world = machine.process()
    world.turn("s1", "I love jazz.")
    machine.settled()
    for text in ("I live in Oslo.", "My sister is called Anna."):
        world.turn("s1", text)
    machine.clock.advance(minutes=61)
    return machine


def watched(machine: Machine, interruption: Interruption) -> World:
    world = World(
        WatchedStore(machine, interruption),
        machine.clock,
        index=WatchedIndex(machine, interruption),
        embedder=machine.embedder,
    )
    world.queue = machine.queue
    return world


def writes_of_a_worker() -> list[str]:
    machine, interruption = spoken(), Interruption()
    world = watched(machine, interruption)
    world.plan()
    assert world.work() == 0
    return interruption.calls


CALLS = writes_of_a_worker()


def worked(machine: Machine, interruption: Interruption) -> int:
    world = watched(machine, interruption)
    world.plan()
    return world.work()


def undisturbed() -> Machine:
    machine = spoken()
    machine.settled()
    return machine


def owned(interruption: Interruption) -> list[object]:
    """What the worker wrote of the user's afterwards."""
    documents = [one for one in interruption.after if isinstance(one, IndexDocument)]
    return [*documents, *(one for one in interruption.after if isinstance(one, Put) and one.key.table in OWN_TABLES)]


def epoch_of(written: object) -> int:
    epoch = written.epoch if isinstance(written, IndexDocument) else written.item.attributes["epoch"]  # type: ignore[attr-defined]
    assert isinstance(epoch, int)
    return epoch


def test_a_worker_writes_to_the_store_and_to_the_index() -> None:
    assert CALLS.count("transact") >= 4
    assert CALLS.count("put") >= 1


@pytest.mark.parametrize("at", range(1, len(CALLS)))
def test_a_second_worker_waits_for_the_first(at: int) -> None:
    """Before the first write there is no lease yet."""
    machine = spoken()

    def second() -> None:
        messages = machine.queue.receive(5)
        assert messages == ()  # of one user, messages come one after another
        world = machine.process()
        first = next(kept.message for kept in machine.queue._kept)
        failed.append(len(world.deliver([first])))

    failed: list[int] = []
    assert worked(machine, Interruption(at, second)) == 0
    # Between the leases of consolidating and of comparing there is nothing left to wait for.
    assert failed == [1] or machine.pending() == []
    machine.settled()
    assert difference(undisturbed(), machine) == {}


@pytest.mark.parametrize("at", [place for place, name in enumerate(CALLS) if name == "transact"])
def test_a_worker_that_lost_its_lease_writes_nothing_after_another_one_took_over(at: int) -> None:
    machine = spoken()

    def taken_over() -> None:
        machine.clock.advance(minutes=2)
        other = machine.process()
        for kept in list(machine.queue._kept):
            assert other.deliver([kept.message]) == frozenset()

    interruption = Interruption(at, taken_over)
    worked(machine, interruption)
    assert owned(interruption) == []
    machine.settled()
    assert difference(undisturbed(), machine) == {}


def fence(machine: Machine, epoch: int, revision: int) -> None:
    key = Keys("ada", machine.process().runtime.keyed).fence()
    machine.store.transact([Put(Item(key, {"epoch": epoch, "revision": revision}))])


@pytest.mark.parametrize("at", range(len(CALLS)))
def test_work_under_an_older_revision_stops_and_starts_again_from_the_truth(at: int) -> None:
    machine = spoken()
    interruption = Interruption(at, lambda: fence(machine, 0, 1))
    failed = worked(machine, interruption)
    during_a_put = CALLS[at] == "put"  # which had asked a moment before
    assert [one for one in owned(interruption) if not (during_a_put and isinstance(one, IndexDocument))] == []
    assert failed == 1 or machine.pending() == []
    machine.settled()
    assert [name.rpartition(" ")[2] for name in difference(undisturbed(), machine)] == ["fence"]


@pytest.mark.parametrize("at", range(len(CALLS)))
def test_nothing_of_an_older_epoch_is_written_or_recalled_after_the_user_was_erased(at: int) -> None:
    machine = spoken()
    interruption = Interruption(at, lambda: fence(machine, 1, 1))
    worked(machine, interruption)
    older = [one for one in owned(interruption) if epoch_of(one) < 1]
    assert [one for one in older if not (CALLS[at] == "put" and isinstance(one, IndexDocument))] == []
    machine.clock.advance(minutes=61)
    machine.queue.release_all()
    world = machine.process()
    world.consolidate()
    assert world.memories(past="true") == []
    assert world.recall("Where do I live? Oslo, Anna, jazz").json["hits"] == []
    assert world.call("GET /v1/profile").json["interactions"] == 0
    text = world.turn("s1", "Where do I live?", recall="always").json["context"]["text"]
    assert not any(word in text for word in ("Oslo", "Anna", "jazz"))
    world.turn("s1", "I live in Lima.")
    world.clock.advance(minutes=61)
    assert world.consolidate() == 0
    assert [memory["value"] for memory in world.memories(past="true")] == ["Lima"]


def test_a_lease_is_given_up_that_would_not_outlive_the_next_call_of_the_index() -> None:
    """Embedding took too long: somebody else might hold the lease before the index has answered."""
    machine = spoken()
    embed = machine.embedder.embed
    slow = machine.process()
    slow.plan()

    def slowly(*given: object) -> object:
        machine.clock.advance(seconds=40)
        return embed(*given)  # type: ignore[arg-type]

    machine.embedder.embed = slowly  # type: ignore[method-assign, assignment]
    assert len(slow.deliver(machine.queue.receive(5))) == 1
    assert machine.pending() != []
    machine.embedder.embed = embed  # type: ignore[method-assign]
    machine.settled()
    assert [memory["value"] for memory in machine.process().memories(attribute="home")] == ["Oslo"]
