"""Counting calls at the ports, and running schedules."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

import pytest

from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.api.scheduled import RunFailedError
from keepsake.domain.errors import StoreUnavailableError
from keepsake.ports.item_store import Index, Item, Key, PageQuery, Put, Table
from local.calls import Calls, CountedStore, start_counting
from local.schedules import FailedRunError, Schedule, Scheduler


class SetClock:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.ms = 0

    def now_ms(self) -> int:
        return self.ms

    def sleep(self, seconds: float) -> None:
        raise NotImplementedError


KEY = Key(Table.CONTROL, "k", "i")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CountedStore]:
    kept = SqliteItemStore(tmp_path / "keepsake.db")
    yield CountedStore(kept)
    kept.close()


def test_each_call_of_the_port_counts_once(store: CountedStore) -> None:
    calls = start_counting()
    store.get_many([KEY])
    store.query(PageQuery(Table.TURNS, "p", 1))
    store.query_index(Index.PENDING_SESSIONS, "p", limit=1)
    store.transact([Put(Item(KEY, {"version": 1}))])
    assert str(calls) == "store=4 index=0 model=0 embed=0"


def test_requests_served_at_the_same_time_do_not_mix(store: CountedStore) -> None:
    meeting = threading.Barrier(8, timeout=10)

    def work(times: int) -> None:
        meeting.wait()
        for _ in range(times):
            store.get_many([KEY])

    def request(threads: ThreadPoolExecutor, times: int) -> tuple[Calls, object]:
        calls = start_counting()
        return calls, threads.submit(copy_context().run, work, times)

    with ThreadPoolExecutor(8) as threads:
        counted = [request(threads, times)[0] for times in range(8)]
    assert [calls.store for calls in counted] == list(range(8))


def test_a_schedule_that_fails_says_only_what_kind_of_failure() -> None:
    def broken() -> object:
        raise ValueError("words of a user")

    scheduler = Scheduler((Schedule("consolidation", 15, broken),), SetClock())
    with pytest.raises(FailedRunError, match=r"^consolidation failed: ValueError$"):
        scheduler.run("consolidation")


def test_a_schedule_s_own_errors_are_told_by_their_codes() -> None:
    def failing(error: Exception) -> FailedRunError:
        def run() -> object:
            raise error

        with pytest.raises(FailedRunError) as failed:
            Scheduler((Schedule("consolidation", 15, run),), SetClock()).run("consolidation")
        return failed.value

    assert failing(StoreUnavailableError("words of a store")).code == "store_unavailable"
    assert failing(RunFailedError("store_unavailable")).code == "store_unavailable"


def test_a_schedule_runs_once_however_far_the_clock_jumps() -> None:
    clock, ran = SetClock(), threading.Semaphore(0)
    runs: list[int] = []

    def run() -> object:
        runs.append(clock.ms)
        ran.release()
        return None

    scheduler = Scheduler((Schedule("consolidation", 15, run),), clock)
    scheduler.start()
    clock.ms = 100 * 60_000
    assert ran.acquire(timeout=10)
    clock.ms += 14 * 60_000
    assert not ran.acquire(timeout=2.5)
    scheduler.stop()
    assert runs == [100 * 60_000]
