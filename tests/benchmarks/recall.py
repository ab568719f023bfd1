"""What recall finds and what it costs: python -m tests.benchmarks.recall [--sessions 100] [--turns 6000] [--no-data].

1. Searches of the embedded index alone, for a user with many turns, without the query's embedding.
2. A made-up conversation, taken in turns and consolidated, then asked about by `POST /v1/recall`: how often the turn that answers
   is among the first ten, and the times of adding and of finding; beside mem0 and LangGraph's store where they are installed.
3. Where KEEPSAKE_BENCH_DATA names data, what is found in them (`locomo.py`, in this process).
"""

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shared"))

from keepsake import bootstrap
from keepsake.adapters.embedding_local import local_embedder
from keepsake.adapters.sqlite_index import SqliteSearchIndex
from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.domain.principal import Principal
from keepsake.domain.sanitizing import SanitizedText
from keepsake.domain.search import Found, IndexQuery
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import Embedder, EmbeddingModel, Purpose
from keepsake.ports.recall import RecallWish
from keepsake.services.context_windows import WindowWish
from keepsake.services.turns import TakeTurn
from local.backends import MODELS
from tests.benchmarks import locomo
from tests.benchmarks.facts import Conversation, SaidTurn, by_session, conversation
from tests.benchmarks.in_process import logs_unread, make_runtime
from tests.benchmarks.measuring import LOOP_NAME, Sample, loop, percentile, table
from tests.benchmarks.others import USER, OtherMemory, installed
from tests.benchmarks.questions import VARIABLE
from tests.benchmarks.sqlite_index import MODEL, Speech, fill
from tests.fakes import FakeClock
from tests.fakes_queue import FakeWorkQueue
from tests.world import LambdaContext, handler, load_event

AIM_SEARCH_MS = 3.0
DEPTH = 10
OURS = "Keepsake"
_FOREVER_MS = 2**53


class TimedEmbedder:
    """An embedder whose calls are timed."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.sample = Sample()

    @property
    def model(self) -> EmbeddingModel:
        """See Embedder."""
        return self._embedder.model

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:
        """See Embedder."""
        return self.sample.timed(lambda: self._embedder.embed(texts, purpose))


class TimedIndex(SqliteSearchIndex):
    """The embedded index, its searches timed."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.sample = Sample()

    def search(self, query: IndexQuery) -> Found:
        """See SearchIndex."""
        return self.sample.timed(lambda: super(TimedIndex, self).search(query))


@dataclass(slots=True)
class Results:
    """What one memory needed, and which turns it found for each question."""

    adds: Sample = field(default_factory=Sample)
    searches: Sample = field(default_factory=Sample)
    found: list[Sequence[str]] = field(default_factory=list)


class Product:
    """The product in this process: turns by the service, consolidation by the worker's, recall by the function's handler."""

    def __init__(self, embedder: Embedder, folder: Path, stack: ExitStack) -> None:
        self._clock = FakeClock()
        self.embedder, self.index = TimedEmbedder(embedder), TimedIndex(folder / "index.db")
        store, queue = SqliteItemStore(folder / "keepsake.db"), FakeWorkQueue(self._clock)
        stack.callback(store.close)
        stack.callback(self.index.close)
        backends = bootstrap.Backends(
            queue=lambda: queue,
            index=lambda: self.index,
            embedder=lambda: self.embedder,
            background_embedder=lambda: self.embedder,
            model=lambda: None,
        )
        self.runtime = make_runtime(store, backends, self._clock, with_profile=False)
        self.runtime.prime_recall()
        self._handler = handler("recall")
        self._event = load_event("recall")

    def session(self, session_id: str, turns: Sequence[SaidTurn]) -> None:
        """Take a session's turns, and consolidate it."""
        for turn in turns:
            self._clock.ms += 1000
            command = TakeTurn(session_id, turn.role, turn.text, WindowWish(), turn_id=turn.turn_id, recall=RecallWish.NEVER)
            self.runtime.turns.take(Principal(USER), command)
        self.runtime.learning.consolidation.consolidate(USER, session_id, until_ms=_FOREVER_MS)

    def search(self, query: str, limit: int) -> Sequence[str]:
        """`POST /v1/recall` for turns."""
        event: dict[str, Any] = {**self._event, "body": json.dumps({"query": query, "limit": limit, "kinds": ["turn"]})}
        event["requestContext"]["authorizer"]["jwt"]["claims"] = {"sub": USER}
        bootstrap.use(self.runtime)
        answer: Mapping[str, Any] = self._handler(event, LambdaContext())
        return [turn_id for hit in json.loads(answer["body"])["hits"] for turn_id in hit["source"]["turn_ids"]]


def main(arguments: Sequence[str] | None = None) -> int:
    """All sections, printed as they come."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.recall", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=int, default=100, help="sessions of the conversation, of 20 turns (default 100)")
    parser.add_argument("--turns", type=int, default=6000, help="turns of the user that is searched (default 6000)")
    parser.add_argument("--no-data", action="store_true", help=f"leave out the data that {VARIABLE} names")
    wishes = parser.parse_args(arguments)
    print(f"Python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(_searches(wishes.turns), flush=True)
    with logs_unread():
        compared = _compared(conversation(wishes.sessions))
    print(compared, flush=True)
    if os.environ.get(VARIABLE) and not wishes.no_data:
        return locomo.main(["--parts-only"])
    print(f"\nNo data to ask about: {VARIABLE} names none.")
    return 0


def _searches(turns: int, rounds: int = 300) -> str:
    """Words, windows and vectors in one search, each of other words, on an index that was just opened."""
    speech = Speech(7)
    said = speech.turns("owner", turns)
    queries = [speech.question("owner", said) for _ in range(rounds)]
    searches, loops = Sample(), Sample()
    with tempfile.TemporaryDirectory(prefix="keepsake-bench-") as folder:
        path = Path(folder) / "index.db"
        with closing(SqliteSearchIndex(path)) as index:
            index.create("first", MODEL)
            index.switch("first")
            fill(index, said)
        with closing(SqliteSearchIndex(path)) as index:
            index.search(queries[0])
            for query in queries:
                searches.timed(lambda query=query: index.search(query))  # type: ignore[misc]
                loops.timed(loop)
    rows = [_row(name, sample, median(loops.cpu)) for name, sample in (("hybrid search", searches), (LOOP_NAME, loops))]
    title = f"Searches of {turns} turns of one user on SQLite, queries embedded before (ms; aim: p50 of {AIM_SEARCH_MS:.0f})"
    return table(title, _TIMES, rows)


_TIMES = ["", "count", "wall p50", "wall p95", "CPU p50", "in loops"]


def _row(name: str, sample: Sample, one_loop: float) -> list[object]:
    p50, p95 = median(sample.wall), percentile(sample.wall, 0.95)
    return [name, len(sample), f"{p50:.2f}", f"{p95:.2f}", f"{median(sample.cpu):.2f}", f"{median(sample.cpu) / one_loop:.1f}"]


def _compared(talk: Conversation) -> str:
    """The same turns into each memory, session by session in turn; then every question to each in turn."""
    embedder, notice = local_embedder(MODELS)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="keepsake-bench-")))
        ours = Product(embedder, folder, stack)
        others, missing = installed(embedder, stack)
        results = {name: Results() for name in (OURS, *others)}
        loops = Sample()
        for session_id, turns in by_session(talk.turns):
            _added(results, ours, others, session_id, turns)
            loops.timed(loop)
        ours.embedder.sample, ours.index.sample = Sample(), Sample()
        for question in talk.questions:
            for name, search in ((OURS, ours.search), *((name, other.search) for name, other in others.items())):
                of = results[name]
                of.found.append(of.searches.timed(lambda search=search, text=question.text: search(text, DEPTH)))  # type: ignore[misc]
            loops.timed(loop)
    one_loop = median(loops.cpu)
    rows = [_row(f"{name}: add a turn", of.adds, one_loop) for name, of in results.items()]
    rows += [_row(f"{name}: search", of.searches, one_loop) for name, of in results.items()]
    rows += [_row("- of which embedding the query", ours.embedder.sample, one_loop)]
    rows += [_row("- of which searching the index", ours.index.sample, one_loop), _row(LOOP_NAME, loops, one_loop)]
    quality = [[name, f"{_share(talk, of.found, DEPTH):.3f}", f"{_share(talk, of.found, 1):.3f}"] for name, of in results.items()]
    asked = f"{len(talk.questions)} questions about {len(talk.turns)} made-up turns, vectors of {embedder.model.name}"
    said = [table(asked, ["", f"recall@{DEPTH}", "recall@1"], quality), table("Adding and finding (ms)", _TIMES, rows)]
    return "\n".join([*said, "", *missing, *([notice] if notice else [])])


def _added(
    results: Mapping[str, Results], ours: Product, others: Mapping[str, OtherMemory], session_id: str, turns: Sequence[SaidTurn]
) -> None:
    """A session to each. Ours is measured whole, consolidation with it, and counted as so much a turn."""
    whole = Sample()
    whole.timed(lambda: ours.session(session_id, turns))
    results[OURS].adds.wall += [whole.wall[0] / len(turns)] * len(turns)
    results[OURS].adds.cpu += [whole.cpu[0] / len(turns)] * len(turns)
    for name, other in others.items():
        for turn in turns:
            results[name].adds.timed(lambda other=other, turn=turn: other.add(turn))  # type: ignore[misc]


def _share(talk: Conversation, found: Sequence[Sequence[str]], depth: int) -> float:
    return mean(question.turn_id in turns[:depth] for question, turns in zip(talk.questions, found, strict=True))


if __name__ == "__main__":
    sys.exit(main())
