"""What the embedded search index costs: python -m tests.benchmarks.sqlite_index [--turns 6000] [--others 1000] [--searches 200].

One owner with many turns searches by all three arms, alone in the file and then with many other owners in it; the same on a copy
with full-text segments written anew. The text is random, from a seed, with words as unevenly spread as in speech.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

import numpy as np

from keepsake.adapters.sqlite_index import SqliteSearchIndex
from keepsake.domain.clearance import OPEN
from keepsake.domain.search import DocumentKind, IndexDocument, IndexQuery
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel
from tests.benchmarks.measuring import LOOP_NAME, Sample, loop, percentile, table

MODEL = EmbeddingModel("random", 384)
TURN_TERMS, BATCH = 25, 20
WORDS = 20_000
ALL_KINDS = frozenset(DocumentKind)


class Speech:
    """Random turns, windows and questions."""

    def __init__(self, seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        weights = 1 / (30 + np.arange(WORDS))  # the commonest words of a language are no terms of a query
        self.shares = weights / weights.sum()

    def turns(self, owner: str, many: int) -> list[IndexDocument]:
        """A conversation of one owner's."""
        said = self.chance.choice(WORDS, (many, TURN_TERMS), p=self.shares).tolist()
        words = [tuple([f"w{word}" for word in turn]) for turn in said]
        return [
            IndexDocument(
                owner=owner,
                document_id=f"turn/{number:06}",
                kind=DocumentKind.TURN,
                ref=f"session/{number // BATCH}/{number}",
                terms=words[number],
                window_terms=tuple([word for turn in words[max(0, number - 2) : number + 3] for word in turn]),
                vector=self.vector(),
                occurred_at_ms=number,
                session_id=f"session-{number // BATCH}",
                role="user",
            )
            for number in range(many)
        ]

    def vector(self) -> Vector:
        """A direction, any."""
        return Vector(self.chance.integers(-127, 128, MODEL.dimensions, dtype=np.int8).tobytes())

    def question(self, owner: str, turns: Sequence[IndexDocument]) -> IndexQuery:
        """Four to eight terms of one turn."""
        terms = list(dict.fromkeys(turns[int(self.chance.integers(len(turns)))].terms))
        self.chance.shuffle(terms)
        return IndexQuery((owner,), OPEN, ALL_KINDS, tuple(terms[: int(self.chance.integers(4, 9))]), self.vector())


def batches(turns: Sequence[IndexDocument]) -> Iterator[Sequence[IndexDocument]]:
    for start in range(0, len(turns), BATCH):
        yield turns[start : start + BATCH]


def fill(index: SqliteSearchIndex, turns: Sequence[IndexDocument]) -> Sample:
    puts = Sample()
    for batch in batches(turns):
        puts.timed(lambda batch=batch: index.put(batch, index="first"))  # type: ignore[misc]
    return puts


def searched(path: Path, queries: Sequence[IndexQuery]) -> list[tuple[str, Sample]]:
    """Each query on an index that has only read the owner, again with its terms known, and the first search of all."""
    with closing(SqliteSearchIndex(path)) as index:
        first, new, known = Sample(), Sample(), Sample()
        first.timed(lambda: index.search(queries[0]))
        for query in queries:
            new.timed(lambda query=query: index.search(query))  # type: ignore[misc]
        for query in queries:
            known.timed(lambda query=query: index.search(query))  # type: ignore[misc]
    return [("first search of a start", first), ("searches, terms as they come", new), ("the same searches again", known)]


def rows(where: str, samples: Sequence[tuple[str, Sample]]) -> list[list[str]]:
    return [
        [f"{name}, {where}", f"{median(of.wall):.2f}", f"{percentile(of.wall, 0.95):.2f}", f"{median(of.cpu):.2f}"]
        for name, of in samples
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, usual in (("--turns", 6000), ("--others", 1000), ("--other-turns", 40), ("--searches", 200)):
        parser.add_argument(name, type=int, default=usual)
    asked = parser.parse_args()
    speech, lines = Speech(7), []
    turns = speech.turns("owner", asked.turns)
    queries = [speech.question("owner", turns) for _ in range(asked.searches)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "index.db")
        with closing(SqliteSearchIndex(path)) as index:
            index.create("first", MODEL)
            index.switch("first")
            lines += rows("alone", [(f"put of {BATCH}", fill(index, turns))])
        lines += rows("alone", searched(path, queries))
        with closing(SqliteSearchIndex(path)) as index:
            others = [speech.turns(f"other-{number}", asked.other_turns) for number in range(asked.others)]
            puts = [fill(index, of_other) for of_other in others]
            joined = Sample([wall for put in puts for wall in put.wall], [cpu for put in puts for cpu in put.cpu])
            where = f"{asked.others} others"
            lines += rows(where, [(f"put of {BATCH}", joined)])
        lines += rows(where, searched(path, queries))
        with closing(SqliteSearchIndex(path)) as index:
            merged = Sample()
            merged.timed(index.clear_residue)
        lines += rows(where, [("clear the residue", merged)])
        lines += rows(f"{where}, merged", searched(path, queries))
        loops = Sample()
        for _ in range(20):
            loops.timed(loop)
        lines += rows("", [(LOOP_NAME, loops)])
        size = path.stat().st_size / 1e6
    print(
        table(f"{asked.turns} turns, {MODEL.dimensions} dimensions; the file: {size:.0f} MB", ["", "p50 ms", "p95", "CPU"], lines)
    )


if __name__ == "__main__":
    main()
