"""The planner: finds what waits in the sharded index, never by a scan, and puts a message on the queue for what is due."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from keepsake.domain.errors import CorruptItemError, IndexUnavailableError, QueueUnavailableError
from keepsake.domain.hashing import KeyedHash
from keepsake.ports.item_store import MAX_GET, Item, ItemStore, Key
from keepsake.ports.surroundings import Clock
from keepsake.ports.work_queue import WorkMessage, WorkQueue
from keepsake.repositories.keys import Keys
from keepsake.repositories.pending import PendingIndex, outbox_of, session_of, work_ref
from keepsake.repositories.records import read, text, whole
from keepsake.repositories.session_records import header_of
from keepsake.services.reindexing import Reindexing


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What a run did: how many messages it sent, and how much waits but is not due.

    Not `complete`: time ran out, or the queue failed. `needs_reindex`: nothing is indexed before a reindex has been done. What is
    said is learned all the same, since turns leave the log after a week.
    """

    sent: int
    waiting: int
    complete: bool
    needs_reindex: bool = False


@dataclass(frozen=True, slots=True)
class DuePolicy:
    """When a session is due: after so long without a turn, or with so many turns waiting."""

    idle_ms: int
    turns: int


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans consolidation."""

    store: ItemStore
    pending: PendingIndex
    queue: WorkQueue
    reindexing: Reindexing
    keyed: KeyedHash
    clock: Clock
    policy: DuePolicy

    def run(self, *, until_ms: int, everything: bool = False) -> PlanReport:
        """Send a message for each session that is due (for all that wait, when `everything`) and each outbox.

        Raises StoreUnavailableError; what was sent until then is sent. Raises IndexUnavailableError when everything was planned
        and the index does not answer: the worker learns all the same, and whoever watches the schedule hears of it.
        """
        try:
            needs_reindex = self.reindexing.is_needed()
        except IndexUnavailableError:
            self._planned(until_ms, 0, everything=everything)
            raise
        planned = self._planned(until_ms, self.reindexing.resume() if needs_reindex else 0, everything=everything)
        return replace(planned, needs_reindex=needs_reindex)

    def _planned(self, until_ms: int, sent: int, *, everything: bool) -> PlanReport:
        waiting = 0
        for shard in self.pending.shards():
            for keys in self.pending.pages(shard):
                if self.clock.now_ms() >= until_ms:
                    return PlanReport(sent, waiting, complete=False)
                due = [message for part in _parts(keys) for message in self._due(part, shard, everything=everything)]
                waiting += len(keys) - len(due)
                try:
                    taken = self.queue.send(due) if due else 0
                except QueueUnavailableError:
                    return PlanReport(sent, waiting, complete=False)
                sent += taken
        return PlanReport(sent, waiting, complete=True)

    def _due(self, keys: Sequence[Key], shard: str, *, everything: bool) -> Iterator[WorkMessage]:
        """Messages for those of the items that are due. The index may name what waits no longer."""
        found = self.store.get_many(keys)
        for key in keys:
            item = found.get(key)
            if item is None or text(item, "pending_shard", "") != shard:
                continue
            if everything or self._is_due(item):
                # Whoever asks for everything means it, also when the same was asked for a moment ago and put off.
                yield self._message(item, shard, str(self.clock.now_ms()) if everything else "")

    def _is_due(self, item: Item) -> bool:
        """Whether it is time. What does not read back is due at once: the worker's failures are set aside, and seen."""
        try:
            if session_of(item.key) is None:
                return bool(read(outbox_of, item).refs)
            header = read(header_of, item)
        except CorruptItemError:
            return True
        return header.is_due(self.clock.now_ms(), idle_ms=self.policy.idle_ms, turns=self.policy.turns)

    def _message(self, item: Item, shard: str, asked: str) -> WorkMessage:
        keys = Keys(item.key.partition, self.keyed)
        ref = work_ref(keys, item.key, shard, whole(item, "pending_since"))
        # The version is part of it: the same state sent twice is one message, and what has moved since is another.
        return WorkMessage(ref, keys.group(), self.keyed.of("message", ref, str(whole(item, "version")), asked))


def _parts(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    for at in range(0, len(keys), MAX_GET):
        yield keys[at : at + MAX_GET]
