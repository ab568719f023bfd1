"""What consolidation costs: python -m tests.benchmarks.consolidation [--sessions 20] [--growth 10] [--profile].

Sessions of 20 turns are consolidated without a model and with an embedder that costs nothing, on SQLite stores and the SQLite
index: sessions a second on one core, and how the cost of one grows from few sessions to ten times as many, of one user and of
many. Then, on dictionaries, what one session reads, writes and would be billed.
"""

import argparse
import cProfile
import os
import platform
import pstats
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shared"))

from keepsake import bootstrap
from keepsake.adapters.sqlite_index import SqliteSearchIndex
from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.domain.principal import Principal
from keepsake.domain.sanitizing import SanitizedText
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel, Purpose
from keepsake.ports.item_store import ItemStore
from keepsake.ports.recall import RecallWish
from keepsake.ports.search_index import SearchIndex
from keepsake.services.consolidation import ConsolidationReport
from keepsake.services.context_windows import WindowWish
from keepsake.services.turns import TakeTurn
from local.calls import CountedIndex, CountedStore, start_counting
from tests.benchmarks.capacity import DOLLARS_PER_MILLION_WRITES, Charge, Metered
from tests.benchmarks.in_process import make_runtime
from tests.benchmarks.measuring import LOOP_NAME, Sample, loop, percentile, table
from tests.benchmarks.sessions import TURNS, Talk
from tests.fakes import DictItemStore, FakeClock
from tests.fakes_index import DictSearchIndex
from tests.fakes_queue import FakeWorkQueue

AIM_PER_SECOND, AIM_GROWTH = 50, 10.5
WARM_UP = 10  # sessions
_FOREVER_MS = 2**53
_VECTOR = Vector(bytes(range(1, 128)) * 3 + b"\x01\x02\x03")


class FreeEmbedder:
    """Gives every text the same vector, at no cost."""

    @property
    def model(self) -> EmbeddingModel:
        """See Embedder."""
        return EmbeddingModel("free", _VECTOR.dimensions)

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:  # noqa: ARG002
        """See Embedder."""
        return (_VECTOR,) * len(texts)


@dataclass(slots=True)
class Costs:
    """What consolidated sessions took, each beside a loop."""

    sessions: Sample = field(default_factory=Sample)
    loops: Sample = field(default_factory=Sample)
    done: Counter[str] = field(default_factory=Counter)

    def in_loops(self, start: int = 0, end: int | None = None) -> float:
        """Processor time of some sessions together, in loops of the same minutes."""
        return sum(self.sessions.cpu[start:end]) / median(self.loops.cpu[start:end])


class Learner:
    """Takes the turns of sessions, and consolidates them. The clock stands still but for a second with each turn."""

    def __init__(self, store: ItemStore, index: SearchIndex, seed: int) -> None:
        self._clock = FakeClock()
        queue, embedder = FakeWorkQueue(self._clock), FreeEmbedder()
        backends = bootstrap.Backends(
            queue=lambda: queue,
            index=lambda: index,
            embedder=lambda: embedder,
            background_embedder=lambda: embedder,
            model=lambda: None,
        )
        self.runtime = make_runtime(store, backends, self._clock, with_profile=False)
        self._talk = Talk(seed)

    def talk(self, user: str, session: str) -> None:
        """Twenty turns."""
        for said in self._talk.session():
            self._clock.ms += 1000
            turn = TakeTurn(session, said.role, said.text, WindowWish(), recall=RecallWish.NEVER)
            self.runtime.turns.take(Principal(user), turn)

    def consolidate(self, user: str, session: str) -> ConsolidationReport:
        """The session. Raises AssertionError when it was not dealt with whole."""
        report = self.runtime.learning.consolidation.consolidate(user, session, until_ms=_FOREVER_MS)
        assert report.complete
        assert report.turns == TURNS
        return report


def main(arguments: Sequence[str] | None = None) -> int:
    """All of it, printed as it comes."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.consolidation", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=int, default=20, help="sessions at first (default 20)")
    parser.add_argument("--growth", type=int, default=10, help="how many times as many in the end (default 10)")
    parser.add_argument("--profile", action="store_true", help="say where the time goes, and nothing else")
    wishes = parser.parse_args(arguments)
    if wishes.profile:
        _profiled(wishes.sessions)
        return 0
    print(f"Python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    many = wishes.sessions * wishes.growth
    one_user = _measured([("ann", f"session-{number}") for number in range(many)])
    print(_growth("of one user", one_user, wishes.sessions), flush=True)
    users = _measured([(f"user-{number}", "session") for number in range(many)])
    print(_growth("of a user each", users, wishes.sessions), flush=True)
    print(_calls(wishes.sessions), flush=True)
    return 0


def _measured(plan: Sequence[tuple[str, str]]) -> Costs:
    """Each session right after it was said, with a loop beside it."""
    costs = Costs()
    with tempfile.TemporaryDirectory(prefix="keepsake-bench-") as folder, ExitStack() as closing:
        learner = _learner(Path(folder), closing)
        for user, session in plan:
            learner.talk(user, session)
            report = costs.sessions.timed(lambda user=user, session=session: learner.consolidate(user, session))  # type: ignore[misc]
            costs.loops.timed(loop)
            costs.done.update({"memories": report.memories, "documents": report.documents})
    return costs


def _learner(folder: Path, closing: ExitStack) -> Learner:
    """One that has consolidated some sessions already: rules are read and compiled when they are first needed."""
    store, index = SqliteItemStore(folder / "keepsake.db"), SqliteSearchIndex(folder / "index.db")
    closing.callback(store.close)
    closing.callback(index.close)
    learner = Learner(store, index, 7)
    for number in range(WARM_UP):
        learner.talk("somebody", f"session-{number}")
        learner.consolidate("somebody", f"session-{number}")
    return learner


def _growth(whose: str, costs: Costs, first: int) -> str:
    many = len(costs.sessions)
    rows = []
    for start in range(0, many, max(first, many // 5)):
        end = min(many, start + max(first, many // 5))
        rows.append(_row(f"sessions {start + 1} to {end}", costs, start, end))
    rows.insert(0, _row(f"the first {first}", costs, 0, first))
    rows.append(_row("all", costs, 0, many))
    ratio = costs.in_loops() / costs.in_loops(0, first)
    per_second = 1000 * many / sum(costs.sessions.cpu)
    heads = ["", "count", "CPU p50 ms", "CPU p95", "in loops", "wall p50", "a second"]
    title = f"{many} sessions {whose}, on SQLite ({LOOP_NAME}: {median(costs.loops.cpu):.2f} ms)"
    said = (
        f"{per_second:.0f} sessions a second and core (aim: {AIM_PER_SECOND}); {many // first} times the sessions cost "
        f"{ratio:.1f} times as much (aim: at most {AIM_GROWTH * many / first / 10:.1f}); "
        f"{costs.done['memories'] / many:.1f} memories and {costs.done['documents'] / many:.1f} documents each"
    )
    return table(title, heads, rows) + f"\n\n{said}"


def _row(name: str, costs: Costs, start: int, end: int) -> list[object]:
    cpu = costs.sessions.cpu[start:end]
    return [
        name,
        len(cpu),
        f"{median(cpu):.1f}",
        f"{percentile(cpu, 0.95):.1f}",
        f"{costs.in_loops(start, end) / len(cpu):.1f}",
        f"{median(costs.sessions.wall[start:end]):.1f}",
        f"{1000 * len(cpu) / sum(cpu):.0f}",
    ]


def _calls(sessions: int) -> str:
    """Round trips and write units of a session, on dictionaries, after as many others."""
    store = Metered(DictItemStore())
    learner = Learner(CountedStore(store), CountedIndex(DictSearchIndex()), 7)
    told: list[tuple[int, int, int, list[Charge]]] = []
    for number in range(sessions):
        learner.talk("ann", f"session-{number}")
        store.settled()
        calls = start_counting()
        learner.consolidate("ann", f"session-{number}")
        reads, writes = store.settled()
        told.append((calls.store, calls.index, sum(charge.units for charge in reads), writes))
    _, _, _, last = told[-1]
    kinds = {charge.item: [one for one in last if one.item == charge.item] for charge in last}
    rows = [[kind, len(of_kind), sum(one.units for one in of_kind)] for kind, of_kind in kinds.items()]
    units = median(sum(charge.units for charge in writes) for *_, writes in told)
    said = (
        f"A session: {median(row[0] for row in told):.0f} calls of the store, {median(row[1] for row in told):.0f} of the index, "
        f"{units:.0f} write units ({units * DOLLARS_PER_MILLION_WRITES:.0f} dollars for a million sessions), "
        f"{median(row[2] for row in told):.0f} read units beside pages (medians)"
    )
    return table("Write units of the last session", ["item", "items", "units"], rows) + f"\n\n{said}"


def _profiled(sessions: int) -> None:
    with tempfile.TemporaryDirectory(prefix="keepsake-bench-") as folder, ExitStack() as closing:
        learner, profile = _learner(Path(folder), closing), cProfile.Profile()
        for number in range(sessions):
            learner.talk("ann", f"session-{number}")
            profile.runcall(learner.consolidate, "ann", f"session-{number}")
    pstats.Stats(profile).sort_stats("cumulative").print_stats(60)


if __name__ == "__main__":
    sys.exit(main())
