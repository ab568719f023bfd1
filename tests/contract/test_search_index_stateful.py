"""The same random documents and queries on every search index: each answer must be the same."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from keepsake.domain.clearance import Clearance
from keepsake.domain.search import Candidate, DocumentKind, Found, IndexDocument, IndexQuery
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel
from keepsake.ports.search_index import Location
from tests.contract.indexes import Bench, opened, pages
from tests.fakes_index import DictSearchIndex
from tests.opensearch.node import node_url

OWNERS = ["user1", "user10", "1", "木 🙂"]
IDS = st.sampled_from(["a", "a/1", "a/10", "B", "b", "ä", "木", "🙂", "c|d", '"'])
TERMS = [
    "haus",
    "hausbau",
    "bau",
    "春天",
    "天氣",
    "สวัส",
    "مرحبا",
    "🙂",
    '"',
    "it's",
    "and",
    "a b",
    "a",
    "*",
    "\0",
    "1t",
    "\ue000",
]
TEXTS = st.lists(st.sampled_from(TERMS), max_size=8).map(tuple)
REPEATED = st.builds(lambda term, times: (term,) * times, st.sampled_from(TERMS), st.sampled_from([3, 20, 130]))
CLEARANCES = st.builds(
    Clearance, st.sampled_from([0, 0, 1, 2]), st.sampled_from([frozenset(), frozenset({"a"}), frozenset({"b"}), frozenset("ab")])
)
KINDS = st.sampled_from(list(DocumentKind))
MODELS = {name: EmbeddingModel(f"model of {name}", 3 + place) for place, name in enumerate(("one", "two"))}
NAMES = st.sampled_from(["one", "one", "two"])
COMPONENTS = st.lists(st.integers(-127, 127) | st.sampled_from([0, 1]), min_size=4, max_size=4)
NEARLY = 1e-6


def _vector(components: list[int], name: str) -> Vector:
    return Vector(bytes([component % 256 for component in components[: MODELS[name].dimensions]]))


DOCUMENTS = st.builds(
    IndexDocument,
    owner=st.sampled_from(OWNERS),
    document_id=IDS,
    kind=KINDS,
    ref=st.sampled_from(["ref", "archive/1#2", "木"]),
    terms=TEXTS,
    window_terms=TEXTS | REPEATED,
    vector=st.just(Vector(b"")),
    occurred_at_ms=st.integers(0, 4),
    epoch=st.integers(0, 2),
    clearance=CLEARANCES,
    session_id=st.sampled_from(["", "s 1", "木"]),
    speaker=st.sampled_from(["", "ann"]),
    role=st.sampled_from(["", "user"]),
)
TIMES = st.none() | st.integers(0, 4)
QUERIES = st.builds(
    IndexQuery,
    owners=st.lists(st.sampled_from(OWNERS), max_size=3, unique=True).map(tuple),
    clearance=CLEARANCES,
    kinds=st.just(frozenset(DocumentKind)) | st.frozensets(KINDS),
    terms=st.lists(st.sampled_from([*TERMS, "nowhere"]), max_size=6, unique=True).map(tuple),
    vector=st.none(),
    since_ms=TIMES,
    until_ms=TIMES,
    per_arm=st.sampled_from([1, 2, 3, 50]),
)


class Indexes(RuleBasedStateMachine):
    """Dictionaries and another index, side by side."""

    other: str

    def __init__(self) -> None:
        super().__init__()
        self.cleanup = ExitStack()
        folder = Path(self.cleanup.enter_context(tempfile.TemporaryDirectory()))
        self.plain = DictSearchIndex()
        self.benches = (Bench(self.plain, lambda: self.plain), self.cleanup.enter_context(opened(self.other, folder)))
        self.locations: dict[tuple[str, str, str], tuple[Location, ...]] = {}

    def teardown(self) -> None:
        self.cleanup.close()

    @initialize()
    def begin(self) -> None:
        for bench in self.benches:
            bench.ready("one", MODELS["one"])
            bench.index.create(bench.name("two"), MODELS["two"])

    @rule(
        documents=st.lists(st.tuples(DOCUMENTS, COMPONENTS), min_size=1, max_size=8),
        name=NAMES,
    )
    def put(self, documents: list[tuple[IndexDocument, list[int]]], name: str) -> None:
        sized = [replace(document, vector=_vector(components, name)) for document, components in documents]
        outcomes = [bench.index.put(sized, index=bench.name(name)) for bench in self.benches]
        self.refresh()
        for document, *located in zip(sized, *outcomes, strict=True):
            taken = tuple([location for location in located if isinstance(location, Location)])
            assert len(taken) in {0, len(self.benches)}
            if taken:
                self.locations[name, document.owner, document.document_id] = taken

    @rule(data=st.data(), most=st.integers(1, 4))
    def delete(self, data: st.DataObject, most: int) -> None:
        if self.locations:
            keys = data.draw(st.lists(st.sampled_from(sorted(self.locations)), min_size=1, max_size=most))
            for place, bench in enumerate(self.benches):
                assert bench.index.delete([self.locations[key][place] for key in keys]) == (True,) * len(keys)
            self.refresh()

    @rule(name=NAMES)
    def switch(self, name: str) -> None:
        for bench in self.benches:
            bench.index.create(bench.name(name), MODELS[name])
            bench.index.switch(bench.name(name))

    @rule(name=st.sampled_from(["two", "two", "one"]))
    def drop(self, name: str) -> None:
        for bench in self.benches:
            bench.index.drop(bench.name(name))

    @rule(query=QUERIES, components=st.none() | COMPONENTS)
    def search(self, query: IndexQuery, components: list[int] | None) -> None:
        name = self.current()
        if name and components:
            query = replace(query, vector=_vector(components, name))
        expected, found = (bench.index.search(query) for bench in self.benches)
        assert (found.turn, found.window) == (expected.turn, expected.window)
        self.assert_chosen(query, found)
        all_of_them = {_key(it): it for it in self.plain.search(replace(query, per_arm=10_000)).candidates}
        for candidate in found.candidates:
            _assert_same(candidate, all_of_them[_key(candidate)])

    @rule(owner=st.sampled_from(OWNERS), limit=st.integers(1, 5), name=NAMES)
    def page(self, owner: str, limit: int, name: str) -> None:
        listed = [_listed(bench, owner, bench.name(name), limit) for bench in self.benches]
        assert listed[0] == listed[1]

    def refresh(self) -> None:
        for bench in self.benches:
            bench.index.refresh()

    def current(self) -> str | None:
        known = [(bench.prefix, bench.index.current()) for bench in self.benches]
        plain, other = [one and (one.name.removeprefix(prefix), one.documents) for prefix, one in known]
        assert plain == other
        return plain[0] if plain else None

    def assert_chosen(self, query: IndexQuery, found: Found) -> None:
        """The best of every arm are there, and nothing but the best; those that tie for the last place may change it."""
        chosen = {_key(candidate) for candidate in found.candidates}
        assert len(chosen) == len(found.candidates)
        must: set[tuple[str, str]] = set()
        may: set[tuple[str, str]] = set()
        for arm in self.plain.arms(query):
            last = arm[min(query.per_arm, len(arm)) - 1][0] if arm else 0.0
            whole = len(arm) <= query.per_arm
            must |= {key for score, key in arm if whole or score > last + NEARLY}
            may |= {key for score, key in arm if score > last - NEARLY}
        assert must <= chosen <= may
        if self.other == "sqlite":
            assert chosen == {_key(candidate) for candidate in self.plain.search(query).candidates}


def _listed(bench: Bench, owner: str, name: str, limit: int) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """All pages of an owner's documents and of an index's."""
    owned = pages(lambda after: bench.index.list_owned(owner, limit=limit, after=after))
    every = pages(lambda after: bench.index.list_all(name, limit=limit, after=after))
    of_owner, of_index = ([(it.owner, it.document_id, it.kind, it.ref) for it in found] for found in (owned, every))
    return sorted(of_owner), sorted(of_index)


def _key(candidate: Candidate) -> tuple[str, str]:
    return candidate.owner, candidate.document_id


def _assert_same(found: Candidate, expected: Candidate) -> None:
    assert (found.cosine is None) == (expected.cosine is None)
    assert abs((found.cosine or 0) - (expected.cosine or 0)) < NEARLY
    assert replace(found, cosine=None) == replace(expected, cosine=None)


def _run(other: str, *, examples: int, steps: int) -> None:
    Indexes.other = other
    run_state_machine_as_test(Indexes, settings=settings(max_examples=examples, stateful_step_count=steps))


def test_dictionaries_and_a_file_answer_alike_whatever_is_put_and_asked() -> None:
    _run("sqlite", examples=settings().max_examples // 3, steps=20)


def test_dictionaries_and_a_node_answer_alike_whatever_is_put_and_asked() -> None:
    node_url()
    _run("opensearch", examples=8, steps=15)
