"""Writes of background work: under a lease, stopped by any erasure, and in as many transactions as they need."""

from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.domain.audit import AuditEvent, ChainHead
from keepsake.domain.errors import LeaseLostError, SubjectErasedError
from keepsake.domain.hashing import KeyedHash
from keepsake.ports.item_store import ItemStore, Write
from keepsake.repositories.audit import linked_writes, user_chain_writes
from keepsake.repositories.keys import Keys
from keepsake.repositories.leases import Lease
from keepsake.repositories.stored import Stored, commit

# Of the 100 actions of a transaction the rest is for the audit entry, the chain's head, the fence, the lease and the mark of
# reindexes.
MAX_WRITES = 85


@dataclass(frozen=True, slots=True)
class Background:
    """Commits for background work."""

    store: ItemStore
    keyed: KeyedHash

    def commit(
        self, lease: Lease, held: Sequence[Write], chain: Stored[ChainHead], writes: Sequence[Write], event: AuditEvent
    ) -> Stored[ChainHead]:
        """Write all of it, in order, each part with an audit entry in the user's own chain; the chain's head after it.

        `held` are the writes that say that the lease still holds: part of each.

        Each part is all or nothing, and the whole may stop between two: what stops must be harmless to do again. Raises
        LostRaceError, LeaseLostError when anything of the user was erased, or a reindex begun, since the lease was taken, and
        StoreUnavailableError.
        """
        keys = Keys(lease.user_id, self.keyed)
        for at in range(0, len(writes), MAX_WRITES):
            entries = user_chain_writes(keys, chain, [event], lease.fence)
            try:
                commit(self.store, keys, lease.fence, [*writes[at : at + MAX_WRITES], *entries, *held], background=True)
            except SubjectErasedError as error:
                raise LeaseLostError("something of the user was erased while this was under way") from error
            _, head = linked_writes(keys.user_chain(), chain.value or ChainHead(), [event], self.keyed)
            chain = Stored(head, (chain.version or 0) + 1)
        return chain
