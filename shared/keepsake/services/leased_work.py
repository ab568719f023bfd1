"""Background work on one user's memory: under a lease that each write renews, and audited like all else."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from keepsake.domain.audit import Action, Actor, AuditEvent
from keepsake.domain.errors import StoreUnavailableError
from keepsake.ports.item_store import Write
from keepsake.ports.surroundings import Clock
from keepsake.repositories.background import Background
from keepsake.repositories.leases import Lease, Leases
from keepsake.repositories.memories import Memories, MemoryState
from keepsake.services.retrying import Retrying


@dataclass(frozen=True, slots=True)
class LeasedWork:
    """Takes leases, and writes under them. `lease_ms` is how long one lasts that nobody renews."""

    memories: Memories
    leases: Leases
    background: Background
    clock: Clock
    retrying: Retrying
    lease_ms: int

    @contextmanager
    def lease(self, user_id: str) -> Iterator[Lease]:
        """A lease on the user while the block runs. Raises LeaseHeldError and StoreUnavailableError."""
        lease = self.leases.take(user_id, now_ms=self.clock.now_ms(), lasting_ms=self.lease_ms)
        try:
            yield lease
        finally:
            with suppress(StoreUnavailableError):  # else it runs out by itself
                self.leases.release(lease)

    def held(self, lease: Lease) -> list[Write]:
        """The writes that make the lease last anew, on condition that it is still ours and no reindex was begun since."""
        renewal = self.leases.renewal(lease, now_ms=self.clock.now_ms(), lasting_ms=self.lease_ms)
        return [renewal, self.leases.unmoved(lease)]

    def write(self, lease: Lease, writes: Sequence[Write], action: Action, **counts: int) -> None:
        """Write all of it, in as many transactions as it needs.

        Raises LostRaceError, LeaseLostError and StoreUnavailableError.
        """
        if writes:
            self.retrying.call(lambda: self.write_once(lease, self.memories.load(lease.user_id), writes, action, **counts))

    def write_once(self, lease: Lease, state: MemoryState, writes: Sequence[Write], action: Action, **counts: int) -> None:
        """The same over a state that was read already, without trying again."""
        event = AuditEvent(action, Actor.SCHEDULE, self.clock.now_ms(), counts, {})
        self.background.commit(lease, self.held(lease), state.chain, writes, event)
