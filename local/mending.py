"""Sets right what a kill or a lost file left on one machine.

The embedded index is a copy: after it was lost it is filled anew. Pointers say whose documents stood there, and the stores what
they hold. A mark in the data folder stands until that is done, so that a kill on the way does not end it.
"""

from collections.abc import Callable, Mapping

from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.domain.errors import LeaseHeldError, LeaseLostError, LostRaceError
from keepsake.ports.item_store import Delete, Key, Table
from keepsake.repositories.background import MAX_WRITES
from keepsake.repositories.keys import LEASE
from keepsake.services.drift import DriftCheck
from local.folder import DataFolder, write_once

INDEX = "index"
INDEX_MINUTES = 1

_MARK = b"The search index was lost and is being filled anew.\n"


def note_loss(folder: DataFolder, store: SqliteItemStore) -> bool:
    """Whether the index is to be filled anew. Asked before it is opened, which makes it where it is missing."""
    if not folder.index.exists() and store.partitions(Table.POINTERS):
        write_once(folder.index_mark, _MARK)
    return folder.index_mark.exists()


def free_leases(store: SqliteItemStore) -> None:
    """End the leases of a service that was killed. Only while the data folder is locked: then nobody is at work under one."""
    keys = [Key(Table.CONTROL, partition, LEASE) for partition in store.partitions(Table.CONTROL, sort=LEASE)]
    for at in range(0, len(keys), MAX_WRITES):
        store.transact([Delete(key) for key in keys[at : at + MAX_WRITES]])


def mending(folder: DataFolder, store: SqliteItemStore, drift: Callable[[], DriftCheck]) -> Mapping[str, int]:
    """Repair every owner's documents, as long as the mark stands. `left` counts owners whose memory others work at just now."""
    if not folder.index_mark.exists():
        return {"repaired": 0, "left": 0}
    repaired = left = 0
    for owner in store.partitions(Table.POINTERS):
        try:
            repaired += drift().check(owner, repair=True).repaired
        except (LeaseHeldError, LeaseLostError, LostRaceError):
            left += 1
    if not left:
        folder.index_mark.unlink(missing_ok=True)
    return {"repaired": repaired, "left": left}
