"""Search indexes with names of their own, and small documents and queries for the suites that hold all to one contract."""

from __future__ import annotations

import os
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING
from uuid import uuid4

from keepsake.adapters.opensearch_index import open_search_index
from keepsake.adapters.opensearch_mapping import Layout
from keepsake.adapters.sqlite_index import SqliteSearchIndex
from keepsake.adapters.surroundings import SystemChance, SystemClock
from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.search import Candidate, DocumentKind, Found, IndexDocument, IndexQuery
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel
from keepsake.ports.search_index import IndexedDocument, IndexedPage, Location, SearchIndex
from tests.fakes_index import DictSearchIndex
from tests.opensearch.node import REQUIRE, URL, node_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

DIMENSIONS = 4
MODEL = EmbeddingModel("model", DIMENSIONS, 0.2, 0.9)
ALL_KINDS = frozenset(DocumentKind)
NORTH, EAST = Vector.of([1, 0, 0, 0]), Vector.of([0, 1, 0, 0])
NOWHERE = Vector(bytes(DIMENSIONS))
_OPENSEARCH_RUNS = count()


@dataclass
class Bench:
    """An index, and names of physical indexes that are this test's alone."""

    index: SearchIndex
    reopened: Callable[[], SearchIndex]  # the same index as another process has it
    prefix: str = ""
    made: set[str] = field(default_factory=set)

    def name(self, name: str) -> str:
        self.made.add(self.prefix + name)
        return self.prefix + name

    def ready(self, name: str = "first", model: EmbeddingModel = MODEL) -> str:
        """An empty index that the alias names."""
        self.index.create(self.name(name), model)
        self.index.switch(self.name(name))
        return self.name(name)

    def put(self, *documents: IndexDocument, into: str = "first") -> tuple[Location, ...]:
        """Put documents that are found by the next search."""
        outcomes = self.index.put(documents, index=self.name(into))
        self.index.refresh()
        located = tuple([outcome for outcome in outcomes if isinstance(outcome, Location)])
        assert len(located) == len(documents)
        return located

    def delete(self, *locations: Location) -> tuple[bool, ...]:
        gone = self.index.delete(locations)
        self.index.refresh()
        return gone

    def clear(self) -> None:
        for name in self.made:
            self.index.drop(name)


def adapters() -> list[str]:
    """The kinds of index that can be tried here: OpenSearch only where a node is named, or where one must be."""
    with_node = os.environ.get(URL) or os.environ.get(REQUIRE)
    return ["dictionary", "sqlite", *(["opensearch"] if with_node else [])]


@contextmanager
def opened(adapter: str, folder: Path) -> Iterator[Bench]:
    """A bench with an index of that kind, without any physical index in it. Skips where it needs a node and there is none."""
    with ExitStack() as cleanup:
        if adapter == "dictionary":
            dictionary = DictSearchIndex()
            yield Bench(dictionary, lambda: dictionary)
        elif adapter == "sqlite":

            def opened_here() -> SearchIndex:
                return cleanup.enter_context(closing(SqliteSearchIndex(folder / "index.db")))

            yield Bench(opened_here(), opened_here)
        else:
            prefix = f"t{uuid4().hex[:12]}-{next(_OPENSEARCH_RUNS)}-"
            bench = Bench(_on_node(prefix), lambda: _on_node(prefix), prefix)
            cleanup.callback(bench.clear)
            yield bench


def _on_node(prefix: str) -> SearchIndex:
    return open_search_index(
        node_url(),
        alias=f"{prefix}alias",
        service="none",
        region=None,
        clock=SystemClock(),
        chance=SystemChance(),
        layout=Layout(shards=2, replicas=0),
    )


# ---- documents and queries ---------------------------------------------------------------------------------------------


def document(
    document_id: str,
    terms: str | Sequence[str] = "",
    window: str | Sequence[str] | None = None,
    *,
    owner: str = "ann",
    vector: Vector = NORTH,
    kind: DocumentKind = DocumentKind.TURN,
    clearance: Clearance = OPEN,
    at: int = 0,
) -> IndexDocument:
    words = tuple(terms.split()) if isinstance(terms, str) else tuple(terms)
    around = words if window is None else tuple(window.split()) if isinstance(window, str) else tuple(window)
    return IndexDocument(owner, document_id, kind, f"ref of {document_id}", words, around, vector, at, clearance=clearance)


def query(
    terms: str | Sequence[str] = "",
    vector: Vector | None = None,
    *,
    owners: Sequence[str] = ("ann",),
    clearance: Clearance = OPEN,
    kinds: frozenset[DocumentKind] = ALL_KINDS,
    per_arm: int = 50,
) -> IndexQuery:
    words = tuple(terms.split()) if isinstance(terms, str) else tuple(terms)
    return IndexQuery(tuple(owners), clearance, kinds, words, vector, per_arm=per_arm)


# ---- answers -----------------------------------------------------------------------------------------------------------


def ids(found: Found) -> list[str]:
    """The candidates' ids, sorted."""
    return sorted(candidate.document_id for candidate in found.candidates)


def one(found: Found) -> Candidate:
    """The only candidate."""
    (candidate,) = found.candidates
    return candidate


def pages(ask: Callable[[str | None], IndexedPage]) -> list[IndexedDocument]:
    """The documents of all pages. None of them is empty but the first of none at all."""
    listed: list[IndexedDocument] = []
    page = ask(None)
    while True:
        listed += page.documents
        if page.next is None:
            return listed
        page = ask(page.next)
        assert page.documents
