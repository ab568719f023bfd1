"""Reindex jobs in the store, one under way at a time."""

from dataclasses import dataclass
from enum import StrEnum

from keepsake.domain.errors import LostRaceError
from keepsake.ports.item_store import ConditionFailedError, Item, ItemStore, Put, Value, Write
from keepsake.repositories.keys import PENDING_SHARDS, job_key, pending_shard, reindex_mark_key, running_job_key
from keepsake.repositories.records import text, whole
from keepsake.repositories.session_records import seconds
from keepsake.repositories.stored import Fence, Stored, put_versioned, stored

_KEPT_MS = 90 * 24 * 3600 * 1000


class JobStatus(StrEnum):
    """How far a job is; `filled`: all of the old index was read, and the new one is about to take its place."""

    RUNNING = "running"
    FILLED = "filled"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class ReindexJob:
    """A reindex from one index into another. `position` is where the reading of the first stands.

    `total` is what that held at the start, `done` what was read of it, `dropped` what had no truth any more.
    """

    job_id: str
    source: str
    target: str
    started_ms: int
    updated_ms: int
    status: JobStatus = JobStatus.RUNNING
    position: str = ""
    done: int = 0
    total: int = 0
    dropped: int = 0
    completed_ms: int | None = None

    @property
    def is_running(self) -> bool:
        """Whether it is under way."""
        return self.status is not JobStatus.COMPLETE


@dataclass(frozen=True, slots=True)
class Jobs:
    """All jobs."""

    store: ItemStore

    def load(self, job_id: str) -> Stored[ReindexJob]:
        """A job as it stands."""
        key = job_key(job_id)
        return stored(self.store.get_many([key]).get(key), Fence(), _job_of)

    def is_running(self, job_id: str) -> bool:
        """Whether that job is under way; no job (an empty id) is."""
        job = self.load(job_id).value if job_id else None
        return job is not None and job.is_running

    def running(self) -> tuple[str, Stored[str]]:
        """The id of the job that was started last (empty: none), and what a write of it must find."""
        key = running_job_key()
        found = stored(self.store.get_many([key]).get(key), Fence(), lambda item: text(item, "job_id"))
        return found.value or "", found

    def start(self, job: ReindexJob, last: Stored[str], others: list[Write]) -> None:
        """Write a new job as the one under way. Raises LostRaceError when another one was started meanwhile."""
        current = put_versioned(running_job_key(), {"job_id": job.job_id}, last, Fence())
        # Work that began before may no longer confirm what it told the index: the job may have read past it.
        marks = [Put(Item(reindex_mark_key(pending_shard(shard)), current.item.attributes)) for shard in range(PENDING_SHARDS)]
        self._transact([self._put(job, Stored()), current, *marks, *others])

    def save(self, job: ReindexJob, replaced: Stored[ReindexJob]) -> Stored[ReindexJob]:
        """Write how far a job is. Raises LostRaceError when another worker did."""
        self._transact([self._put(job, replaced)])
        return Stored(job, (replaced.version or 0) + 1)

    def _transact(self, writes: list[Write]) -> None:
        try:
            self.store.transact(writes)
        except ConditionFailedError as failed:
            raise LostRaceError("others wrote while this was under way", retry_after=1) from failed

    def _put(self, job: ReindexJob, replaced: Stored[ReindexJob]) -> Put:
        attributes: dict[str, Value] = {
            "source": job.source,
            "target": job.target,
            "started_at": job.started_ms,
            "updated_at": job.updated_ms,
            "status": job.status.value,
            "position": job.position,
            "done": job.done,
            "total": job.total,
            "dropped": job.dropped,
            "expires_at": seconds(job.started_ms + _KEPT_MS),
        }
        if job.completed_ms is not None:
            attributes["completed_at"] = job.completed_ms
        return put_versioned(job_key(job.job_id), attributes, replaced, Fence())


def _job_of(item: Item) -> ReindexJob:
    return ReindexJob(
        job_id=str(item.key.sort).removeprefix("job#"),
        source=text(item, "source"),
        target=text(item, "target"),
        started_ms=whole(item, "started_at"),
        updated_ms=whole(item, "updated_at"),
        status=JobStatus(text(item, "status")),
        position=text(item, "position", ""),
        done=whole(item, "done"),
        total=whole(item, "total"),
        dropped=whole(item, "dropped"),
        completed_ms=whole(item, "completed_at") if "completed_at" in item.attributes else None,
    )
