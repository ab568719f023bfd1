"""Telling the index: pointers, documents, then the pointers confirmed. And removing: documents, then pointers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from keepsake.domain.errors import IndexUnavailableError, ReindexNeededError
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.paging import all_pages
from keepsake.domain.sanitizing import for_embedding
from keepsake.domain.search import IndexDocument
from keepsake.ports.embedding import Embedder, EmbeddingModel, Purpose
from keepsake.ports.item_store import Delete, Put, Write
from keepsake.ports.search_index import NO_INDEX, Location, NotIndexed, PhysicalIndex, SearchIndex
from keepsake.ports.surroundings import Clock
from keepsake.repositories.jobs import Jobs
from keepsake.repositories.keys import Keys
from keepsake.repositories.leases import Lease, Leases
from keepsake.repositories.pointers import Pointer, Pointers, excerpt_of
from keepsake.repositories.stored import Fence
from keepsake.services.drafts import Draft

_BATCH = 64
_REMEMBERED_MS = 30_000
_PAGE = 500


@dataclass(slots=True)
class CurrentIndex:
    """Which index the alias names, remembered for a short while, and whether its vectors are of the model we embed with."""

    index: SearchIndex
    model: EmbeddingModel
    alias: str
    clock: Clock
    _known: PhysicalIndex | None = field(default=None, init=False)
    _until_ms: int = field(default=0, init=False)

    def for_reading(self) -> PhysicalIndex | None:
        """The current index, None when there is none. Raises IndexUnavailableError."""
        known = self._known  # what another thread may forget at any moment
        if known is None or self.clock.now_ms() >= self._until_ms:
            self._known = known = self.index.current()
            self._until_ms = self.clock.now_ms() + _REMEMBERED_MS
        return known

    def for_writing(self) -> PhysicalIndex:
        """The current index, made when there is none.

        Raises ReindexNeededError when it holds vectors of another model or size, and IndexUnavailableError.
        """
        current = self.for_reading()
        if current is None:
            self.index.create(self.name_for(), self.model)
            self.index.switch(self.name_for())
            self.forget()
            current = self.for_reading()
        if current is None or not self.matches(current):
            self.forget()
            raise ReindexNeededError("the index holds vectors of another embedding model or size: start a reindex")
        return current

    def matches(self, physical: PhysicalIndex) -> bool:
        """Whether an index's vectors are of our model."""
        return (physical.model.name, physical.model.dimensions) == (self.model.name, self.model.dimensions)

    def name_for(self, other_than: str = "") -> str:
        """The name of an index for our model; another one than that, when it is taken."""
        name = f"{self.alias}-{_slug(self.model.name)}-{self.model.dimensions}"
        return f"{name}-b" if name == other_than else name

    def forget(self) -> None:
        """Ask anew next time."""
        self._known = None


@dataclass(frozen=True, slots=True)
class Difference:
    """What the index is to be told: documents to put, and pointers whose documents are to go."""

    drafts: list[Draft]
    gone: list[Pointer]


@dataclass(frozen=True, slots=True)
class Indexed:
    """What became of documents: pointers to those that the index took, and how many it refused for good."""

    confirmed: tuple[Pointer, ...]
    refused: int


@dataclass(frozen=True, slots=True)
class Indexing:
    """Puts documents of one owner into the index and takes them out, under a lease.

    `call_ms` is how long a call of the index may take: the lease must outlive it.
    """

    current: CurrentIndex
    embedder: Embedder
    pointers: Pointers
    leases: Leases
    jobs: Jobs
    keyed: KeyedHash
    clock: Clock
    call_ms: int

    def announced(self, user_id: str, drafts: Iterable[Draft], fence: Fence) -> list[Put]:
        """The writes of the pointers, which come before the documents."""
        return [self.pointers.put(user_id, _pointer(draft), fence) for draft in drafts]

    def put(self, lease: Lease, drafts: Sequence[Draft], *, index: str | None = None) -> Indexed:
        """Embed and index, each call of the index under a lease that is known to hold.

        `index` is for a reindex: while one is under way, nothing else is put anywhere. Raises IndexUnavailableError when any
        document is to be tried again, ModelUnavailableError, LeaseLostError and ReindexNeededError.
        """
        if index is None and self.jobs.is_running(lease.reindex.value or ""):
            raise ReindexNeededError("a reindex is under way")
        name = index or self.current.for_writing().name
        confirmed: list[Pointer] = []
        refused = 0
        for at in range(0, len(drafts), _BATCH):
            part = drafts[at : at + _BATCH]
            documents = self._documents(lease.user_id, part, lease.fence.epoch)
            self.leases.check(lease, now_ms=self.clock.now_ms(), needed_ms=self.call_ms)
            outcomes = self.current.index.put(documents, index=name)
            failed = [one for one in outcomes if isinstance(one, NotIndexed)]
            if any(one.code == NO_INDEX for one in failed):
                self.current.forget()  # a reindex has put another one in its place
            if any(one.retryable or one.code == NO_INDEX for one in failed):
                raise IndexUnavailableError("the index did not take all documents yet", retry_after=30)
            refused += len(failed)
            confirmed += [_pointer(draft).at(one) for draft, one in zip(part, outcomes, strict=True) if isinstance(one, Location)]
        return Indexed(tuple(confirmed), refused)

    def _documents(self, owner: str, drafts: Sequence[Draft], epoch: int) -> list[IndexDocument]:
        """The documents of the drafts, embedded."""
        vectors = self.embedder.embed([for_embedding(draft.text) for draft in drafts], Purpose.PASSAGE)
        return [
            IndexDocument(
                owner=owner,
                document_id=draft.document_id,
                kind=draft.kind,
                ref=draft.ref,
                terms=draft.terms,
                window_terms=draft.window_terms,
                vector=vector,
                occurred_at_ms=draft.occurred_at_ms,
                epoch=epoch,
                clearance=draft.clearance,
                session_id=draft.session_id,
                speaker=draft.speaker,
                role=draft.role,
            )
            for draft, vector in zip(drafts, vectors, strict=True)
        ]

    def confirmed_writes(self, lease: Lease, indexed: Indexed) -> list[Write]:
        """The writes that confirm pointers."""
        return [self.pointers.put(lease.user_id, pointer, lease.fence) for pointer in indexed.confirmed]

    def removed_writes(self, lease: Lease, gone: Sequence[Pointer]) -> list[Write]:
        """Remove the documents of pointers from the index; the writes that remove the pointers themselves, afterwards.

        Raises IndexUnavailableError when a document could not be removed, and LeaseLostError.
        """
        if not gone:
            return []
        locations = [pointer.location for pointer in gone if pointer.location]
        locations += self._located(lease.user_id, {pointer.document_id for pointer in gone if not pointer.location})
        self.remove(lease, locations)
        keys = Keys(lease.user_id, self.keyed)
        return [Delete(keys.pointer(pointer.document_id)) for pointer in gone]

    def remove(self, lease: Lease, locations: Sequence[Location]) -> None:
        """Remove documents. Raises IndexUnavailableError when one could not be removed, and LeaseLostError."""
        for at in range(0, len(locations), _BATCH):
            self.leases.check(lease, now_ms=self.clock.now_ms(), needed_ms=self.call_ms)
            if not all(self.current.index.delete(locations[at : at + _BATCH])):
                raise IndexUnavailableError("the index did not remove all documents yet", retry_after=30)

    def _located(self, owner: str, document_ids: set[str]) -> list[Location]:
        """Where documents stand whose pointers do not know: a crash came between the document and its pointer's confirmation."""
        if not document_ids:
            return []
        pages = all_pages(lambda after: self.current.index.list_owned(owner, limit=_PAGE, after=after))
        return [document.location for page in pages for document in page.documents if document.document_id in document_ids]

    def pointers_under(self, user_id: str, prefix: str) -> list[Pointer]:
        """All pointers of an owner whose document ids begin like this."""
        pages = all_pages(lambda after: self.pointers.page(user_id, limit=_PAGE, after=after, prefix=prefix))
        return [pointer for page in pages for pointer in page.pointers]


def _pointer(draft: Draft) -> Pointer:
    return Pointer(
        document_id=draft.document_id,
        kind=draft.kind.value,
        ref=draft.ref,
        excerpt=excerpt_of(draft.text),
        created_ms=draft.occurred_at_ms,
        retention_expires_ms=draft.retention_expires_ms,
        session_id=draft.session_id,
        clearance=draft.clearance,
    )


def _slug(name: str) -> str:
    return "".join(character if character.isalnum() else "-" for character in name.lower()).strip("-")
