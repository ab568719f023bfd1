"""What the embedded queue promises beyond the contract: random histories, threads, crashes, files."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from keepsake.adapters.sqlite_queue import QueueRules, ReceivedMessage, SqliteWorkQueue
from keepsake.domain.errors import QueueUnavailableError
from keepsake.ports.work_queue import WorkMessage
from tests.fakes import FakeClock
from tests.fakes_queue import FakeWorkQueue

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
RULES = QueueRules(visibility_ms=1_000, max_receives=2)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def queue(tmp_path: Path, clock: FakeClock) -> Iterator[SqliteWorkQueue]:
    with contextlib.closing(SqliteWorkQueue(tmp_path / "queue.db", clock=clock, rules=RULES)) as made:
        yield made


def message(ref: str, group: str = "g") -> WorkMessage:
    return WorkMessage(ref=ref, group=group, deduplication=f"{group}.{ref}")


class Histories(RuleBasedStateMachine):
    """The same random calls on the file and on the list: every answer is the same."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._clock = FakeClock()
        self._file = SqliteWorkQueue(Path(self._folder.name) / "queue.db", clock=self._clock, rules=RULES)
        self._list = FakeWorkQueue(self._clock, RULES)
        self._receipts: list[str] = []

    def teardown(self) -> None:
        self._file.close()
        self._folder.cleanup()

    @rule(works=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), max_size=4))
    def send(self, works: list[tuple[str, str]]) -> None:
        messages = [message(ref, group) for group, ref in works]
        assert self._file.send(messages) == self._list.send(messages)

    @rule(limit=st.integers(0, 4))
    def receive(self, limit: int) -> None:
        got = self._file.receive(limit)
        assert plain(got) == plain(self._list.receive(limit))
        self._receipts = [*self._receipts, *[each.receipt for each in got]][-6:]

    @rule(place=st.integers(0, 5))
    def delete(self, place: int) -> None:
        if place < len(self._receipts):
            assert self._file.delete(self._receipts[place]) == self._list.delete(self._receipts[place])

    @rule(place=st.integers(0, 5), after_ms=st.sampled_from([0, 300, 2_000]))
    def release(self, place: int, after_ms: int) -> None:
        if place < len(self._receipts):
            receipt = self._receipts[place]
            assert self._file.release(receipt, after_ms=after_ms) == self._list.release(receipt, after_ms=after_ms)

    @rule(ms=st.sampled_from([1, 300, 1_000, 5 * 60_000, 4 * 86_400_000, 10 * 86_400_000]))
    def wait(self, ms: int) -> None:
        self._clock.advance(ms=ms)

    @rule()
    def redrive(self) -> None:
        assert self._file.redrive() == self._list.redrive()

    @rule()
    def look(self) -> None:
        assert self._file.counts() == self._list.counts()
        assert plain(self._file.dead_letters()) == plain(self._list.dead_letters())


def plain(messages: tuple[ReceivedMessage, ...]) -> list[ReceivedMessage]:
    return [replace(each, message_id="") for each in messages]


def test_a_random_history_is_the_same_on_file_and_in_memory() -> None:
    run_state_machine_as_test(Histories, settings=settings(max_examples=40, stateful_step_count=30, deadline=None))


def test_many_threads_take_every_message_once_and_each_group_in_order(queue: SqliteWorkQueue) -> None:
    queue.send([message(f"{number:03}", f"g{number % 5}") for number in range(100)])
    taken: list[tuple[str, str]] = []

    def work() -> None:
        while got := queue.receive(3):
            for each in got:
                taken.append((each.group, each.body))
                assert queue.delete(each.receipt)

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(work) for _ in range(4)]:
            done.result()
    while queue.counts().waiting:  # a thread may have found all groups busy, and gone
        work()
    assert len(set(taken)) == len(taken) == 100
    for group in range(5):
        mine = [body for owner, body in taken if owner == f"g{group}"]
        assert mine == sorted(mine)


CRASH = """
import os, sys
sys.path[:0] = ["shared", "."]
from pathlib import Path
from keepsake.adapters.sqlite_queue import SqliteWorkQueue
from tests.fakes import FakeClock
from tests.unit.test_sqlite_queue import RULES, message
queue = SqliteWorkQueue(Path(sys.argv[1]), clock=FakeClock(), rules=RULES)
queue.send([message("a"), message("b"), message("c", "other")])
queue.delete(queue.receive(1)[0].receipt)
queue.receive(1)
os.kill(os.getpid(), 9)
"""


def test_a_kill_loses_no_message_and_brings_none_back_that_was_deleted(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "queue.db"
    done = subprocess.run([sys.executable, "-c", CRASH, str(path)], check=False, cwd=ROOT, env=dict(os.environ), timeout=60)
    assert done.returncode == -9
    with contextlib.closing(SqliteWorkQueue(path, clock=clock, rules=RULES)) as queue:
        assert queue.counts() == (1, 1, 0)
        queue.release_all()
        assert [(each.body, each.received_count) for each in queue.receive(10)] == [
            ('{"version":1,"ref":"b"}', 2),
            ('{"version":1,"ref":"c"}', 1),
        ]


def test_an_old_receipt_never_fits_a_new_message(queue: SqliteWorkQueue, clock: FakeClock) -> None:
    queue.send([message("a")])
    (old,) = queue.receive(1)
    assert queue.delete(old.receipt)
    queue.send([message("b")])
    (new,) = queue.receive(1)
    assert not queue.delete(old.receipt)
    assert new.sequence > old.sequence


def test_what_fails_is_told_as_an_unavailable_queue(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "queue.db"
    queue = SqliteWorkQueue(path, clock=clock)
    queue.close()
    queue.close()
    for call in (lambda: queue.send([message("a")]), lambda: queue.receive(1), queue.counts):
        with pytest.raises(QueueUnavailableError, match="closed"):
            call()
    path.write_bytes(b"not a database at all, but long enough to look at" * 100)
    with pytest.raises(QueueUnavailableError, match="SQLITE_NOTADB"):
        SqliteWorkQueue(path, clock=clock)


def test_receiving_costs_no_more_when_much_is_waiting(queue: SqliteWorkQueue) -> None:
    steps: list[int] = []
    with queue._database.writing() as writer:
        writer.set_progress_handler(lambda: steps.append(1), 10)

    def cost() -> int:
        steps.clear()
        (got,) = queue.receive(1)
        assert queue.delete(got.receipt)
        return len(steps)

    queue.send([message(str(number), f"g{number}") for number in range(50)])
    few = cost()
    queue.send([message(str(number), f"g{number}") for number in range(50, 5_000)])
    assert cost() < few * 1.5
