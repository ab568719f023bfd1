"""Reindexing: a new index is filled from the truth while the old one answers; then the alias moves.

Vectors of two models never stand in one index: with another model set, nothing is indexed until this is done. What is said
meanwhile stays pending, and is found in the log.
"""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from keepsake.domain.audit import Action, Actor, AuditEvent
from keepsake.domain.errors import (
    AccessDeniedError,
    JobNotFoundError,
    QueueUnavailableError,
    ReindexRunningError,
    UnprocessableError,
)
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.principal import Principal
from keepsake.ports.search_index import IndexedDocument
from keepsake.ports.surroundings import Clock, IdFactory
from keepsake.ports.work_queue import WorkMessage, WorkQueue
from keepsake.repositories.audit import user_chain_writes
from keepsake.repositories.jobs import Jobs, JobStatus, ReindexJob
from keepsake.repositories.keys import Keys
from keepsake.repositories.memories import Memories
from keepsake.services.indexing import Indexing
from keepsake.services.leased_work import LeasedWork
from keepsake.services.rebuilding import Rebuilding

_PAGE = 64
# A job that nobody has worked at for so long may be started anew.
_ABANDONED_MS = 3600 * 1000
_QUIET_MS = 10 * 60 * 1000
REF_PREFIX = "reindex:"


@dataclass(frozen=True, slots=True)
class Reindexing:
    """Runs reindex jobs."""

    jobs: Jobs
    memories: Memories
    leased: LeasedWork
    indexing: Indexing | None
    rebuilding: Rebuilding
    queue: WorkQueue
    clock: Clock
    ids: IdFactory

    def start(self, principal: Principal) -> ReindexJob:
        """Begin to fill a new index. Raises AccessDeniedError, ReindexRunningError, IndexUnavailableError and StoreError."""
        _check_admin(principal)
        if self.indexing is None:
            raise UnprocessableError("this installation has no search index")
        last_id, last = self.jobs.running()
        under_way = self.jobs.load(last_id).value if last_id else None
        if under_way and under_way.is_running and self.clock.now_ms() - under_way.updated_ms < _ABANDONED_MS:
            raise ReindexRunningError("a reindex is under way")
        job = self._new_job(self.indexing)
        state = self.memories.load(principal.user_id)
        event = AuditEvent(Action.REINDEX_STARTED, Actor.ADMIN, self.clock.now_ms(), {"document": job.total}, {"job": job.job_id})
        entries = user_chain_writes(Keys(principal.user_id, self.memories.keyed), state.chain, [event], state.fence)
        self.jobs.start(job, last, list(entries))
        self._send(job)
        return job

    def _new_job(self, indexing: Indexing) -> ReindexJob:
        current, now_ms = indexing.current, self.clock.now_ms()
        physical = current.index.current()
        if physical is None:
            name = current.for_writing().name
            return ReindexJob(self.ids.new(), name, name, now_ms, now_ms, JobStatus.COMPLETE, completed_ms=now_ms)
        target = current.name_for(other_than=physical.name)
        return ReindexJob(self.ids.new(), physical.name, target, now_ms, now_ms, total=physical.documents)

    def read(self, principal: Principal, job_id: str) -> ReindexJob:
        """How far a job is. Raises AccessDeniedError and JobNotFoundError."""
        _check_admin(principal)
        found = self.jobs.load(job_id).value
        if found is None:
            raise JobNotFoundError("there is no such job")
        return found

    def is_needed(self) -> bool:
        """Whether nothing may be indexed now: the index is of another model, or a reindex is under way."""
        if self.indexing is None:
            return False
        physical = self.indexing.current.for_reading()
        return (physical is not None and not self.indexing.current.matches(physical)) or self.is_under_way()

    def resume(self) -> int:
        """Ask again for work at a job that nobody seems to work at; how many messages were sent."""
        job_id, _ = self.jobs.running()
        job = self.jobs.load(job_id).value if job_id else None
        if job is None or not job.is_running or self.clock.now_ms() - job.updated_ms < _QUIET_MS:
            return 0
        self._send(job)
        return 1

    def is_under_way(self) -> bool:
        """Whether a job is, so that nothing else may be indexed."""
        return self.jobs.is_running(self.jobs.running()[0])

    def run(self, job_id: str, *, until_ms: int) -> ReindexJob | None:
        """Work at a job as far as there is time, and send for more. None: it is done already, or not the one under way.

        Raises LeaseHeldError while somebody works at an owner's memory, IndexUnavailableError, ModelUnavailableError and
        StoreError: the same message later goes on where this one stopped.
        """
        found = self.jobs.load(job_id)
        job = found.value
        if self.indexing is None or job is None or self.jobs.running()[0] != job_id:
            return None
        # At least one step each time: a queue takes the same message for a repetition while nothing has moved.
        while job.is_running:
            step = self._switched if job.status is JobStatus.FILLED else self._next_page
            job = step(job, self.indexing)
            found = self.jobs.save(job, found)
            if job.is_running and self.clock.now_ms() >= until_ms:
                self._send(job)
                break
        return job

    def _next_page(self, job: ReindexJob, indexing: Indexing) -> ReindexJob:
        """The job after one more page."""
        if not job.position:
            # What another job left may be of any state: this one begins from nothing.
            indexing.current.index.drop(job.target)
            indexing.current.index.create(job.target, indexing.current.model)
        page = indexing.current.index.list_all(job.source, limit=_PAGE, after=job.position or None)
        by_owner: defaultdict[str, list[IndexedDocument]] = defaultdict(list)
        for document in page.documents:
            by_owner[document.owner].append(document)
        carried = sum(self._carried(owner, documents, job.target, indexing) for owner, documents in by_owner.items())
        read = len(page.documents)
        return replace(
            job,
            status=JobStatus.FILLED if page.next is None else JobStatus.RUNNING,
            position=page.next or "",
            done=job.done + read,
            total=max(job.total, job.done + read),
            dropped=job.dropped + read - carried,
            updated_ms=self.clock.now_ms(),
        )

    def _switched(self, job: ReindexJob, indexing: Indexing) -> ReindexJob:
        """The job after the alias has moved. A step of its own: once the old index is gone, it cannot be read again."""
        indexing.current.index.switch(job.target)
        indexing.current.index.drop(job.source)
        indexing.current.forget()
        now_ms = self.clock.now_ms()
        return replace(job, status=JobStatus.COMPLETE, updated_ms=now_ms, completed_ms=now_ms)

    def _carried(self, owner: str, documents: Sequence[IndexedDocument], target: str, indexing: Indexing) -> int:
        """Put what these documents stand for into the new index; how many had a truth still."""
        with self.leased.lease(owner) as lease:
            drafts = self.rebuilding.drafts(owner, (document.ref for document in documents), lease.fence)
            wanted = [drafts[document.document_id] for document in documents if document.document_id in drafts]
            indexed = indexing.put(lease, wanted, index=target)
            writes = indexing.confirmed_writes(lease, indexed)
            self.leased.write(lease, writes, Action.INDEX_UPDATED, document=len(writes))
            return len(wanted)

    def _send(self, job: ReindexJob) -> None:
        """Ask for the next stretch. Where the queue fails, the planner asks at its next run."""
        keyed = self.memories.keyed
        with suppress(QueueUnavailableError):
            self.queue.send([work_of(job, keyed)])


def work_of(job: ReindexJob, keyed: KeyedHash) -> WorkMessage:
    """The message that asks for work at a job."""
    ref = REF_PREFIX + job.job_id
    return WorkMessage(ref, keyed.of("group", "reindex"), keyed.of("message", ref, str(job.done), str(job.updated_ms)))


def _check_admin(principal: Principal) -> None:
    if not principal.is_admin:
        raise AccessDeniedError("this is for admins")
