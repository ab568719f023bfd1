"""The search index: a copy of the truth that may be lost at any time. It finds; it never decides who may see what it found.

Two adapters, OpenSearch and SQLite, keep one contract: the same documents and the same query give the same candidates and the
same features. Documents of one embedding model and size stand in one index, behind an alias; vectors never mix.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from keepsake.domain.search import Found, IndexDocument, IndexQuery
from keepsake.ports.embedding import EmbeddingModel


@dataclass(frozen=True, slots=True)
class Location:
    """Where the index put a document: in which index, under which id, by which routing. Only by these it can be removed."""

    index: str
    id: str
    routing: str


# Why no document at all is taken: the index is not there, since another one has taken its place.
NO_INDEX = "no_index"


@dataclass(frozen=True, slots=True)
class NotIndexed:
    """The index did not take this one document, and why. `retryable`: it may take the same one later."""

    code: str
    retryable: bool


@dataclass(frozen=True, slots=True)
class PhysicalIndex:
    """One index: its name, and the model whose vectors it holds. `documents` counts them."""

    name: str
    model: EmbeddingModel
    documents: int


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """What stands in the index, without what finds it."""

    owner: str
    document_id: str
    kind: str
    ref: str
    location: Location


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """Documents in an order that stays; `next` continues after them."""

    documents: tuple[IndexedDocument, ...]
    next: str | None


class SearchIndex(Protocol):
    """All methods may raise IndexUnavailableError when the index does not answer in time, or not sensibly."""

    def current(self) -> PhysicalIndex | None:
        """The index that the alias names, None when there is none."""
        ...

    def create(self, name: str, model: EmbeddingModel) -> None:
        """Make an empty index of that name; one that is there already with the same model is left as it is.

        Raises ValueError when an index of that name holds vectors of another model, or of other dimensions.
        """
        ...

    def switch(self, name: str) -> None:
        """Let the alias name that index and no other. Raises ValueError when there is no such index."""
        ...

    def drop(self, name: str) -> None:
        """Remove an index; one that is not there is no error. The alias names nothing when it named that one."""
        ...

    def put(self, documents: Sequence[IndexDocument], *, index: str) -> tuple[Location | NotIndexed, ...]:
        """Put each document in place of one with the same owner and id; one outcome for each, in their order.

        Of several with the same owner and id the last one stands. Into an index that is not there (any more)
        nothing is put, with the code NO_INDEX for each, and none comes to be.
        Raises ValueError when a vector has not the index's dimensions, before anything is written.
        """
        ...

    def delete(self, locations: Sequence[Location]) -> tuple[bool, ...]:
        """Remove documents; for each whether it is gone now, in order. One that is not there is gone."""
        ...

    def search(self, query: IndexQuery) -> Found:
        """One round trip. Documents put less than a refresh ago may be missing. No current index: nothing is found.

        Raises IndexUnavailableError, too, when the index that the query names is not there (any more).

        Only documents with one of the query's terms, or with a direction, can be the best of an arm. Equals of an arm are taken
        by document id, then by owner. A vector of zeros has no direction and counts as none.
        """
        ...

    def list_owned(self, owner: str, *, limit: int, after: str | None = None) -> IndexedPage:
        """A page of one owner's documents in the current index."""
        ...

    def list_all(self, index: str, *, limit: int, after: str | None = None) -> IndexedPage:
        """A page of all documents of one index, for a reindex."""
        ...

    def refresh(self) -> None:
        """Make all that was put and removed visible to searches."""
        ...
