"""What the queue's messages ask for, and who does it."""

from collections.abc import Mapping
from dataclasses import dataclass

from keepsake.domain.errors import DependencyUnavailableError, ReindexNeededError
from keepsake.repositories.pending import PendingIndex
from keepsake.services.consolidation import Consolidation
from keepsake.services.drift import DriftCheck
from keepsake.services.reconciling import Reconciling
from keepsake.services.reindexing import REF_PREFIX, Reindexing

_WAITING: Mapping[str, int] = {"waiting_for_reindex": 1}


@dataclass(frozen=True, slots=True)
class Work:
    """Does pieces of work. What is raised makes the message come again."""

    pending: PendingIndex
    consolidation: Consolidation
    reconciling: Reconciling
    reindexing: Reindexing
    drift: DriftCheck

    def do(self, ref: str, *, until_ms: int) -> Mapping[str, int]:
        """The piece of work that a message names; counts of what was done. Work that is no longer there is done.

        Raises KeepsakeError of all kinds.
        """
        if ref.startswith(REF_PREFIX):
            job = self.reindexing.run(ref.removeprefix(REF_PREFIX), until_ms=until_ms)
            return {"documents": job.done if job else 0}
        found = self.pending.find(ref)
        if found is None:
            return {"gone": 1}
        if found[1] is None and self.reindexing.is_under_way():
            return _WAITING  # it stays pending, and is planned again afterwards
        try:
            return self._done(*found, until_ms)
        except ReindexNeededError:
            return _WAITING

    def _done(self, user_id: str, session_id: str | None, until_ms: int) -> Mapping[str, int]:
        if session_id is None:
            told = self.reconciling.empty_outbox(user_id, until_ms=until_ms)
            return {"documents": told.documents, "removed": told.removed, "refused": told.refused}
        report = self.consolidation.consolidate(user_id, session_id, until_ms=until_ms)
        repaired = self._repaired(user_id) if report.complete and report.turns else 0
        return {
            "turns": report.turns,
            "memories": report.memories,
            "documents": report.documents,
            "refused": report.refused,
            "dropped": report.dropped,
            "repaired": repaired,
        }

    def _repaired(self, user_id: str) -> int:
        """What the daily drift check repaired. An index that takes nothing now is compared another day: the session is done."""
        try:
            drift = self.drift.check_daily(user_id)
        except (DependencyUnavailableError, ReindexNeededError):
            return 0
        return drift.repaired if drift else 0
