"""Bringing the index in line with the truth item by item: what changed outside of consolidation waits in the user's outbox."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from keepsake.domain.audit import Action
from keepsake.domain.memories.histories import readings
from keepsake.domain.pending import Outbox
from keepsake.domain.search import DocumentKind
from keepsake.ports.surroundings import Clock
from keepsake.repositories.keys import MEMORY_PREFIX
from keepsake.repositories.leases import Lease
from keepsake.repositories.long_term import LongTerm, document_id_of, session_of_summary
from keepsake.repositories.memories import Memories
from keepsake.repositories.refs import TruthRef
from keepsake.repositories.stored import Stored
from keepsake.services.drafts import Draft, memories_prefix
from keepsake.services.indexing import Difference, Indexed, Indexing
from keepsake.services.leased_work import LeasedWork
from keepsake.services.rebuilding import Rebuilding
from keepsake.services.telling import tell

# Items dealt with at once: what is done of them need not be done again.
_PART = 8


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What was done for one user. Not `complete`: time ran out, and the rest stays in the outbox."""

    documents: int = 0
    removed: int = 0
    refused: int = 0
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Reconciling:
    """Empties outboxes."""

    memories: Memories
    long_term: LongTerm
    leased: LeasedWork
    rebuilding: Rebuilding
    indexing: Indexing | None
    clock: Clock

    def empty_outbox(self, owner: str, *, until_ms: int) -> Reconciled:
        """Tell the index of all that waits in the owner's outbox, as far as there is time.

        Raises LeaseHeldError, LeaseLostError, ReindexNeededError, IndexUnavailableError, ModelUnavailableError and StoreError.
        """
        with self.leased.lease(owner) as lease:
            return self._emptied(lease, until_ms)

    def _emptied(self, lease: Lease, until_ms: int) -> Reconciled:
        done = Reconciled()
        while (seen := self.memories.load(lease.user_id).outbox).value and seen.value.refs:
            if self.clock.now_ms() >= until_ms:
                return replace(done, complete=False)
            done = self._told(lease, seen, seen.value.refs[:_PART], done)
        return done

    def _told(self, lease: Lease, seen: Stored[Outbox], refs: Sequence[str], done: Reconciled) -> Reconciled:
        indexed, removed = Indexed((), 0), 0
        if self.indexing:
            difference = self._difference(lease, refs, self.indexing)
            removed = len(difference.gone)
            indexed = tell(self.leased, self.indexing, lease, difference, Action.INDEX_UPDATED)
        self.leased.retrying.call(lambda: self._forget(lease, seen, refs))
        return Reconciled(done.documents + len(indexed.confirmed), done.removed + removed, done.refused + indexed.refused)

    def _difference(self, lease: Lease, refs: Sequence[str], indexing: Indexing) -> Difference:
        found = Difference([], [])
        for ref in map(TruthRef.parse, refs):
            prefix, drafts = self._wanted(lease, ref)
            wanted = {draft.document_id for draft in drafts}
            found.drafts.extend(drafts)
            there = indexing.pointers_under(lease.user_id, prefix) if prefix is not None else []
            found.gone.extend(pointer for pointer in there if pointer.document_id not in wanted)
        return found

    def _wanted(self, lease: Lease, ref: TruthRef) -> tuple[str | None, list[Draft]]:
        """How the documents of an item are named (None: none of them is ever removed), and those that should be there.

        A session is named by its summary, and has its turns with it.
        """
        drafts = self.rebuilding.makes.of(lease.user_id)
        if ref.kind is DocumentKind.SUMMARY:
            return None, self.rebuilding.session(lease.user_id, session_of_summary(ref.sort), lease.fence)
        if ref.kind is DocumentKind.MEMORY:
            slot_id = ref.sort.removeprefix(MEMORY_PREFIX)
            claims = self.memories.slots(lease.user_id, [slot_id], lease.fence)[slot_id].value
            return memories_prefix(slot_id), drafts.memories(readings(slot_id, claims) if claims else ())
        document_id = document_id_of(ref.sort)
        document = self.long_term.document(lease.user_id, document_id, lease.fence).value
        return drafts.passages_prefix(document_id), drafts.passages(document) if document else []

    def _forget(self, lease: Lease, seen: Stored[Outbox], refs: Sequence[str]) -> None:
        """Take what was dealt with out of the outbox, unless it moved since: then one of these may have changed once more."""
        state = self.memories.load(lease.user_id)
        if state.outbox.version != seen.version:
            return
        outbox = (seen.value or Outbox()).without_refs(refs)
        put = self.memories.put_outbox(lease.user_id, outbox, seen, lease.fence)
        self.leased.write_once(lease, state, [put], Action.INDEX_UPDATED, item=len(refs))
