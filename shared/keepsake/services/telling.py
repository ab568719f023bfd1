"""Bringing the index in line, once it is known what it should hold and what not: in parts that a lease outlives."""

from collections.abc import Sequence

from keepsake.domain.audit import Action
from keepsake.ports.item_store import Write
from keepsake.repositories.leases import Lease
from keepsake.repositories.pointers import Pointer
from keepsake.services.indexing import Difference, Indexed, Indexing
from keepsake.services.leased_work import LeasedWork

# Each write makes the lease last anew, and embedding more documents than this may take longer than it lasts.
_PART = 64


def tell(leased: LeasedWork, indexing: Indexing, lease: Lease, difference: Difference, action: Action) -> Indexed:
    """Pointers, documents, and the pointers confirmed, part by part; then documents removed, and their pointers.

    Whatever stops between two of these is made good by doing all of it again. Raises LeaseLostError, ReindexNeededError,
    IndexUnavailableError, ModelUnavailableError and StoreError.
    """

    def write(writes: Sequence[Write]) -> None:
        leased.write(lease, writes, action, document=len(writes))

    indexing.current.for_writing()
    confirmed: list[Pointer] = []
    refused = 0
    for at in range(0, len(difference.drafts), _PART):
        part = difference.drafts[at : at + _PART]
        write(indexing.announced(lease.user_id, part, lease.fence))
        indexed = indexing.put(lease, part)
        write(indexing.confirmed_writes(lease, indexed))
        confirmed += indexed.confirmed
        refused += indexed.refused
    write(indexing.removed_writes(lease, difference.gone))
    return Indexed(tuple(confirmed), refused)
