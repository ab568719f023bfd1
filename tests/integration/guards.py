"""Stores, queue, index and models as a role sees them: each remembers what was used, and what the role does not allow.

What a call of a port comes to in AWS stands here, too; for the index, that is checked against its adapter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from keepsake.ports.item_store import (
    INDEXES,
    Check,
    Delete,
    Index,
    IndexPage,
    IndexPosition,
    Item,
    ItemStore,
    Key,
    Page,
    PageQuery,
    Put,
    Write,
)

if TYPE_CHECKING:
    from keepsake.domain.sanitizing import SanitizedText
    from keepsake.domain.search import Found, IndexDocument, IndexQuery
    from keepsake.domain.vectors import Vector
    from keepsake.ports.embedding import Embedder, EmbeddingModel, Purpose
    from keepsake.ports.language_model import LanguageModel, ModelAnswer, ModelTask
    from keepsake.ports.search_index import IndexedPage, Location, NotIndexed, PhysicalIndex, SearchIndex
    from keepsake.ports.work_queue import WorkMessage, WorkQueue
    from tests.architecture.template_reading import Grant

WRITES = {Put: "dynamodb:PutItem", Delete: "dynamodb:DeleteItem", Check: "dynamodb:ConditionCheckItem"}
GUARDED = ("dynamodb:", "sqs:SendMessage", "es:", "bedrock:")
# What Lambda and Bedrock themselves do under a function's role.
NOT_OURS = ("ConsolidationDeadLetters", "arn:${AWS::Partition}:bedrock:*::foundation-model/*")
# Requests to the index by the port's methods: method and path, in which the alias is `a`, an index `a-1`.
INDEX_REQUESTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "current": (("GET", "a/_mapping"), ("POST", "a/_search")),
    "create": (("GET", "a-1/_mapping"), ("PUT", "a-1")),
    "switch": (("GET", "a-1/_mapping"), ("GET", "_alias/a"), ("POST", "_aliases")),
    "drop": (("DELETE", "a-1"),),
    "put": (("GET", "a-1/_mapping"), ("POST", "_bulk")),
    "delete": (("POST", "_bulk"),),
    "search": (("POST", "_msearch"),),
    "list_owned": (("POST", "a/_search"),),
    "list_all": (("POST", "a-1/_search"),),
    "refresh": (("POST", "a,a-1/_refresh"),),
}


@dataclass
class Guard:
    """What a role allows, as pairs of action and target (with wildcards), and which of these were used."""

    allowed: frozenset[tuple[str, str]]
    used: set[tuple[str, str]] = field(default_factory=set)
    refused: set[tuple[str, str]] = field(default_factory=set)

    def ask(self, action: str, target: str) -> None:
        """Lets everything through, so that one run tells of all that is missing."""
        by = {pair for pair in self.allowed if pair[0] == action and fnmatchcase(target, pair[1])}
        self.used |= by
        self.refused |= set() if by else {(action, target)}

    def faults(self, name: str) -> Iterator[str]:
        """What a function did that its role does not allow, and what its role allows that it did not do."""
        yield from (f"{name} may not {action} on {target}" for action, target in sorted(self.refused))
        yield from (f"{name} need not {action} on {target}" for action, target in sorted(self.allowed - self.used))


def guard_of(grants: Sequence[Grant]) -> Guard:
    """The guard that a role's statements make. Only what our ports can use is guarded."""
    return Guard(
        frozenset(
            (action, _plain(target))
            for grant in grants
            for action in grant.actions
            for target in grant.targets
            if action.startswith(GUARDED) and target not in NOT_OURS
        )
    )


def _plain(target: str) -> str:
    """A target without what only a deployment knows."""
    if "/${" in target and "Model" in target:
        return target.rsplit("/${", 1)[1].rstrip("}") + (" profile" if "inference-profile" in target else "")
    return target.removeprefix("${SearchResourceArn}/").replace("${SearchAlias}", "a")


@dataclass
class GuardedStore:
    store: ItemStore
    guard: Guard

    def get_many(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        for key in keys:
            self.guard.ask("dynamodb:BatchGetItem", key.table)
        return self.store.get_many(keys)

    def query(self, query: PageQuery) -> Page:
        self.guard.ask("dynamodb:Query", query.table)
        return self.store.query(query)

    def fetch(self, keys: Sequence[Key], pages: Sequence[PageQuery]) -> tuple[Mapping[Key, Item], tuple[Page, ...]]:
        return self.get_many(keys), tuple(self.query(page) for page in pages)

    def query_index(self, index: Index, partition: str, *, limit: int, after: IndexPosition | None = None) -> IndexPage:
        self.guard.ask("dynamodb:Query", f"{INDEXES[index].table}/index/{index}")
        return self.store.query_index(index, partition, limit=limit, after=after)

    def transact(self, writes: Sequence[Write]) -> None:
        for write in writes:
            self.guard.ask(WRITES[type(write)], write.key.table)
        self.store.transact(writes)


@dataclass
class GuardedQueue:
    queue: WorkQueue
    guard: Guard

    def send(self, messages: Sequence[WorkMessage]) -> int:
        self.guard.ask("sqs:SendMessage", "ConsolidationQueue")
        return self.queue.send(messages)


@dataclass
class GuardedIndex:
    index: SearchIndex
    guard: Guard

    def _ask(self, method: str) -> SearchIndex:
        for verb, path in INDEX_REQUESTS[method]:
            self.guard.ask(f"es:ESHttp{verb.capitalize()}", path)
        return self.index

    def current(self) -> PhysicalIndex | None:
        return self._ask("current").current()

    def create(self, name: str, model: EmbeddingModel) -> None:
        self._ask("create").create(name, model)

    def switch(self, name: str) -> None:
        self._ask("switch").switch(name)

    def drop(self, name: str) -> None:
        self._ask("drop").drop(name)

    def put(self, documents: Sequence[IndexDocument], *, index: str) -> tuple[Location | NotIndexed, ...]:
        return self._ask("put").put(documents, index=index)

    def delete(self, locations: Sequence[Location]) -> tuple[bool, ...]:
        return self._ask("delete").delete(locations)

    def search(self, query: IndexQuery) -> Found:
        return self._ask("search").search(query)

    def list_owned(self, owner: str, *, limit: int, after: str | None = None) -> IndexedPage:
        return self._ask("list_owned").list_owned(owner, limit=limit, after=after)

    def list_all(self, index: str, *, limit: int, after: str | None = None) -> IndexedPage:
        return self._ask("list_all").list_all(index, limit=limit, after=after)

    def refresh(self) -> None:
        self._ask("refresh").refresh()


@dataclass
class GuardedEmbedder:
    embedder: Embedder
    guard: Guard

    @property
    def model(self) -> EmbeddingModel:
        return self.embedder.model

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:
        self.guard.ask("bedrock:InvokeModel", "EmbeddingModelId")
        return self.embedder.embed(texts, purpose)


@dataclass
class GuardedModel:
    model: LanguageModel
    guard: Guard

    def answer(self, task: ModelTask) -> ModelAnswer:
        # One id names a model or a profile, which is not known here: both are allowed, or neither.
        self.guard.ask("bedrock:InvokeModel", "ExtractionModelId")
        self.guard.ask("bedrock:InvokeModel", "ExtractionModelId profile")
        return self.model.answer(task)
