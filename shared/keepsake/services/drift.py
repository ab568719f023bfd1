"""Drift: what the index holds of a user beside what it should. The truth decides; the index is brought in line."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from keepsake.domain.audit import Action
from keepsake.domain.digest import Digest
from keepsake.domain.errors import AccessDeniedError, UnprocessableError
from keepsake.domain.memories.histories import readings
from keepsake.domain.paging import all_pages
from keepsake.domain.principal import Principal
from keepsake.domain.search import DocumentKind
from keepsake.ports.search_index import IndexedDocument
from keepsake.repositories.leases import Lease
from keepsake.repositories.memories import Memories
from keepsake.repositories.pointers import Pointer
from keepsake.repositories.refs import TruthRef
from keepsake.repositories.stored import Fence
from keepsake.services.drafts import Draft
from keepsake.services.indexing import Indexing
from keepsake.services.leased_work import LeasedWork
from keepsake.services.rebuilding import Rebuilding

_PAGE = 200
_PART = 128
_DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Drift:
    """What was found. `strays` are documents without a pointer, `lost` pointers without their document in the current index,
    `unindexed` memories without either, and `dead` pointers with their documents to what is no longer there. `repaired` counts
    documents that were put or removed.
    """

    documents: int
    pointers: int
    memories: int
    strays: int
    lost: int
    unindexed: int
    dead: int = 0
    repaired: int = 0


@dataclass(frozen=True, slots=True)
class DriftCheck:
    """Compares and repairs, one user at a time."""

    memories: Memories
    leased: LeasedWork
    indexing: Indexing | None
    rebuilding: Rebuilding

    def ask(self, principal: Principal, user_id: str | None, *, repair: bool) -> Drift:
        """For an admin: a user's drift (without a user, one's own). Raises AccessDeniedError and what `check` raises."""
        if not principal.is_admin:
            raise AccessDeniedError("this is for admins")
        return self.check(user_id or principal.user_id, repair=repair)

    def check_daily(self, user_id: str) -> Drift | None:
        """Compare and repair, unless that was done within a day. Raises what `check` raises."""
        digest = self.memories.load(user_id).digest.value
        checked_ms = digest.checked_at_ms if digest else 0
        if self.indexing is None or self.leased.clock.now_ms() - checked_ms < _DAY_MS:
            return None
        with self.leased.lease(user_id) as lease:
            found = self._compared(lease, self.indexing, repair=True)
            self.leased.retrying.call(lambda: self._remember(lease))
            return found

    def check(self, user_id: str, *, repair: bool) -> Drift:
        """Compare, and repair if wanted.

        Raises LeaseHeldError, LeaseLostError, ReindexNeededError, IndexUnavailableError, ModelUnavailableError and StoreError.
        """
        if self.indexing is None:
            raise UnprocessableError("this installation has no search index")
        with self.leased.lease(user_id) as lease:
            return self._compared(lease, self.indexing, repair=repair)

    def _compared(self, lease: Lease, indexing: Indexing, *, repair: bool) -> Drift:
        user_id, name = lease.user_id, indexing.current.for_writing().name
        documents = {document.document_id: document for document in self._documents(user_id, indexing)}
        pointers = {pointer.document_id: pointer for pointer in indexing.pointers_under(user_id, "")}
        wanted = self._memory_refs(user_id, lease.fence)
        strays = [document for document_id, document in documents.items() if document_id not in pointers]
        lost = [one for document_id, one in pointers.items() if document_id not in documents or _astray(one, name)]
        unindexed = [document_id for document_id in wanted if document_id not in pointers]
        dead = self._dead(lease, [one for one in pointers.values() if one not in lost], wanted)
        found = Drift(len(documents), len(pointers), len(wanted), len(strays), len(lost), len(unindexed), len(dead))
        if not repair:
            return found
        lost += dead
        refs = [*(pointer.ref for pointer in lost), *(wanted[document_id] for document_id in unindexed)]
        refs += [document.ref for document in strays]
        ids = {*(pointer.document_id for pointer in lost), *unindexed, *(document.document_id for document in strays)}
        return replace(found, repaired=self._repaired(lease, indexing, refs, ids, strays, lost))

    def _dead(self, lease: Lease, pointers: Sequence[Pointer], memories: Collection[str]) -> list[Pointer]:
        """Those of the pointers whose items are gone, or hold the memory no more."""
        refs = {pointer.document_id: TruthRef.parse(pointer.ref) for pointer in pointers}
        long_term, now_ms = self.rebuilding.long_term, self.leased.clock.now_ms()
        standing = long_term.standing(lease.user_id, {ref.sort for ref in refs.values()}, lease.fence, now_ms=now_ms)
        return [
            pointer
            for pointer in pointers
            if refs[pointer.document_id].sort not in standing
            or (refs[pointer.document_id].kind is DocumentKind.MEMORY and pointer.document_id not in memories)
        ]

    def _repaired(
        self,
        lease: Lease,
        indexing: Indexing,
        refs: Iterable[str],
        ids: set[str],
        strays: list[IndexedDocument],
        lost: list[Pointer],
    ) -> int:
        """Put what has a truth, and remove what has none: documents, and pointers to nothing."""
        drafts = self.rebuilding.drafts(lease.user_id, refs, lease.fence)
        wanted = [draft for document_id, draft in drafts.items() if document_id in ids]
        # In parts: each write makes the lease last anew, and embedding many documents takes longer than one lease lasts.
        for at in range(0, len(wanted), _PART):
            self._put(lease, indexing, wanted[at : at + _PART])
        indexing.remove(lease, [stray.location for stray in strays if stray.document_id not in drafts])
        gone = [pointer for pointer in lost if pointer.document_id not in drafts]
        removed = indexing.removed_writes(lease, gone)
        self.leased.write(lease, removed, Action.INDEX_REPAIRED, document=len(removed))
        return len(wanted) + len(gone) + sum(stray.document_id not in drafts for stray in strays)

    def _put(self, lease: Lease, indexing: Indexing, drafts: list[Draft]) -> None:
        """Pointers, documents, and the pointers confirmed."""
        announced = indexing.announced(lease.user_id, drafts, lease.fence)
        self.leased.write(lease, announced, Action.INDEX_REPAIRED, document=len(announced))
        confirmed = indexing.confirmed_writes(lease, indexing.put(lease, drafts))
        self.leased.write(lease, confirmed, Action.INDEX_REPAIRED, document=len(confirmed))

    def _remember(self, lease: Lease) -> None:
        """Note in the digest that this was done."""
        state = self.memories.load(lease.user_id)
        digest = replace(state.digest.value or Digest(), checked_at_ms=self.leased.clock.now_ms())
        put = self.memories.put_digest(lease.user_id, digest, state.digest, lease.fence)
        self.leased.write_once(lease, state, [put], Action.INDEX_REPAIRED, item=1)

    def _documents(self, owner: str, indexing: Indexing) -> list[IndexedDocument]:
        pages = all_pages(lambda after: indexing.current.index.list_owned(owner, limit=_PAGE, after=after))
        return [document for page in pages for document in page.documents]

    def _memory_refs(self, user_id: str, fence: Fence) -> dict[str, str]:
        """By document id the references of all memories that should be found."""
        makes = self.rebuilding.makes.of(user_id)
        pages = all_pages(lambda after: self.memories.page(user_id, fence, limit=_PAGE, after=after))
        slots = (slot for page in pages for slot in page.slots)
        drafts = (draft for slot_id, claims in slots for draft in makes.memories(readings(slot_id, claims)))
        return {draft.document_id: draft.ref for draft in drafts}


def _astray(pointer: Pointer, index: str) -> bool:
    return pointer.location is None or pointer.location.index != index
