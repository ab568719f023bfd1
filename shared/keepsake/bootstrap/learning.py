"""Learning, put together: what the planner and the worker do, and what people do with their memories and documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from keepsake.adapters.data_files import load_profile_patterns, load_topics
from keepsake.adapters.learning_files import load_attributes, load_entity_patterns, load_extraction_rules
from keepsake.repositories.attempts import AttemptLog
from keepsake.repositories.background import Background
from keepsake.repositories.jobs import Jobs
from keepsake.repositories.leases import Leases
from keepsake.repositories.long_term import LongTerm
from keepsake.repositories.memories import Memories
from keepsake.repositories.pending import PendingIndex
from keepsake.repositories.pointers import Pointers
from keepsake.services.consolidation import Consolidation
from keepsake.services.drafts import DraftMaker
from keepsake.services.drift import DriftCheck
from keepsake.services.extraction import Extraction
from keepsake.services.indexing import Indexing
from keepsake.services.knowledge import KnowledgeKeeping
from keepsake.services.learning import Learning
from keepsake.services.leased_work import LeasedWork
from keepsake.services.memories import MemoryKeeping
from keepsake.services.page_learning import PageLearning
from keepsake.services.pages import Pages
from keepsake.services.planning import DuePolicy, Planner
from keepsake.services.rebuilding import Rebuilding
from keepsake.services.reconciling import Reconciling
from keepsake.services.reindexing import Reindexing
from keepsake.services.statements import StatementSource
from keepsake.services.work import Work

if TYPE_CHECKING:
    from keepsake.bootstrap.runtime import Runtime

_DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True)
class LearningServices:
    """The services, each made when it is first asked for."""

    runtime: Runtime

    @cached_property
    def memories(self) -> Memories:
        """The memories' repository."""
        return Memories(self.runtime.store, self.runtime.keyed)

    @cached_property
    def long_term(self) -> LongTerm:
        """The repository of archive, summaries and documents."""
        return LongTerm(self.runtime.store, self.runtime.keyed)

    @cached_property
    def leased(self) -> LeasedWork:
        """Work under leases."""
        runtime = self.runtime
        return LeasedWork(
            self.memories,
            Leases(runtime.store, runtime.keyed),
            Background(runtime.store, runtime.keyed),
            runtime.clock,
            runtime.retrying,
            runtime.settings.lease_ms,
        )

    @cached_property
    def indexing(self) -> Indexing | None:
        """Telling the index; None where there is none."""
        runtime = self.runtime
        current, embedder = runtime.current_index, runtime.background_embedder
        if current is None or embedder is None:
            return None
        return Indexing(
            current,
            embedder,
            Pointers(runtime.store, runtime.keyed),
            self.leased.leases,
            self.jobs,
            runtime.keyed,
            runtime.clock,
            runtime.settings.index_call_ms,
        )

    @cached_property
    def makes(self) -> DraftMaker:
        """Drafts of documents of the index."""
        return DraftMaker(self.runtime.keyed, load_attributes())

    @cached_property
    def learning(self) -> Learning:
        """From statements to claims."""
        return Learning(load_attributes(), self.runtime.keyed)

    @cached_property
    def statements(self) -> StatementSource:
        """Where statements come from."""
        runtime = self.runtime
        extraction = Extraction(load_extraction_rules(), runtime.model)
        return StatementSource(extraction, AttemptLog(runtime.store, runtime.keyed), runtime.clock)

    @cached_property
    def consolidation(self) -> Consolidation:
        """Consolidation."""
        runtime = self.runtime
        learning = PageLearning(
            memories=self.memories,
            long_term=self.long_term,
            leased=self.leased,
            makes=self.makes,
            indexing=self.indexing,
            learning=self.learning,
            source=self.statements,
            reader=runtime.summarizer,
            entities=load_entity_patterns(),
            archive_ms=runtime.settings.archive_days * _DAY_MS,
        )
        return Consolidation(
            runtime.sessions,
            Pages(runtime.sessions, runtime.clock),
            learning,
            load_topics(runtime.settings.topics_file),
            load_profile_patterns(),
            runtime.clock,
            runtime.retrying,
        )

    @cached_property
    def reconciling(self) -> Reconciling:
        """Emptying outboxes."""
        return Reconciling(self.memories, self.long_term, self.leased, self.rebuilding, self.indexing, self.runtime.clock)

    @cached_property
    def rebuilding(self) -> Rebuilding:
        """Rebuilding documents of the index."""
        return Rebuilding(self.memories, self.long_term, self.makes, self.runtime.clock)

    @cached_property
    def jobs(self) -> Jobs:
        """Reindex jobs as they are kept."""
        return Jobs(self.runtime.store)

    @cached_property
    def reindexing(self) -> Reindexing:
        """Reindex jobs."""
        runtime = self.runtime
        return Reindexing(
            self.jobs,
            self.memories,
            self.leased,
            self.indexing,
            self.rebuilding,
            runtime.queue,
            runtime.clock,
            runtime.ids,
        )

    @cached_property
    def drift(self) -> DriftCheck:
        """Drift checks."""
        return DriftCheck(self.memories, self.leased, self.indexing, self.rebuilding)

    @cached_property
    def pending(self) -> PendingIndex:
        """The index of what waits."""
        return PendingIndex(self.runtime.store, self.runtime.keyed)

    @cached_property
    def planner(self) -> Planner:
        """The planner."""
        settings = self.runtime.settings
        return Planner(
            store=self.runtime.store,
            pending=self.pending,
            queue=self.runtime.queue,
            reindexing=self.reindexing,
            keyed=self.runtime.keyed,
            clock=self.runtime.clock,
            policy=DuePolicy(settings.consolidation_idle_ms, settings.consolidation_turn_count),
        )

    @cached_property
    def work(self) -> Work:
        """The worker."""
        return Work(self.pending, self.consolidation, self.reconciling, self.reindexing, self.drift)

    @cached_property
    def memory_keeping(self) -> MemoryKeeping:
        """Memories as their owners rule them."""
        runtime = self.runtime
        return MemoryKeeping(self.memories, self.learning, runtime.queue, runtime.clock, runtime.ids, runtime.retrying)

    @cached_property
    def knowledge(self) -> KnowledgeKeeping:
        """Knowledge documents."""
        runtime = self.runtime
        return KnowledgeKeeping(self.long_term, self.memories, runtime.queue, runtime.clock, runtime.ids, runtime.retrying)
