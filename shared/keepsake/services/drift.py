"""Drift: what the index holds of a user beside what it should. The truth decides; the index is brought in line."""

from collections.abc import Collection, Iterable, Mapping, Sequence
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
from keepsake.services.indexing import Difference, Indexing
from keepsake.services.leased_work import LeasedWork
from keepsake.services.rebuilding import Rebuilding
from keepsake.services.telling import tell

_PAGE = 200
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
        lost = {key: one for key, one in pointers.items() if key not in documents or _astray(one, name)}
        unindexed = [document_id for document_id in wanted if document_id not in pointers]
        dead = self._dead(lease, [one for key, one in pointers.items() if key not in lost], wanted)
        found = Drift(len(documents), len(pointers), len(wanted), len(strays), len(lost), len(unindexed), len(dead))
        if not repair:
            return found
        amiss = {document.document_id: document.ref for document in strays}
        amiss |= {pointer.document_id: pointer.ref for pointer in (*lost.values(), *dead)}
        amiss |= {document_id: wanted[document_id] for document_id in unindexed}
        return replace(found, repaired=self._repaired(lease, indexing, amiss, strays, [*lost.values(), *dead]))

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
        amiss: Mapping[str, str],
        strays: Iterable[IndexedDocument],
        pointers: Iterable[Pointer],
    ) -> int:
        """Put what has a truth, and remove what has none: documents, and pointers to nothing. `amiss`: references by document."""
        drafts = self.rebuilding.drafts(lease.user_id, amiss.values(), lease.fence)
        wanted = [draft for document_id, draft in drafts.items() if document_id in amiss]
        gone = [pointer for pointer in pointers if pointer.document_id not in drafts]
        told = tell(self.leased, indexing, lease, Difference(wanted, gone), Action.INDEX_REPAIRED)
        untold = [stray.location for stray in strays if stray.document_id not in drafts]
        indexing.remove(lease, untold)
        return len(told.confirmed) + len(gone) + len(untold)

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
