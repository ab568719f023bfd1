"""Recall, put together. Imported by those functions that recall, when they first do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keepsake.adapters.data_files import load_topics
from keepsake.adapters.learning_files import load_attributes, load_query_words, load_ranking_weights, load_recall_gate
from keepsake.repositories.memories import Memories
from keepsake.services.asking import Asking
from keepsake.services.drafts import DraftMaker
from keepsake.services.recall import Recalling, SearchSide
from keepsake.services.turn_recall import TurnRecall

if TYPE_CHECKING:
    from keepsake.bootstrap.runtime import Runtime


def make_recalling(runtime: Runtime) -> Recalling:
    """Recall over the stores and, where there is one, the index."""
    current, embedder = runtime.current_index, runtime.embedder
    search = SearchSide(current, embedder) if current and embedder else None
    return Recalling(
        store=runtime.store,
        search=search,
        attributes=load_attributes(),
        vocabulary=load_query_words(),
        weights=load_ranking_weights(),
        drafts=DraftMaker(runtime.keyed, load_attributes()),
        clock=runtime.clock,
    )


def make_turn_recall(runtime: Runtime) -> TurnRecall:
    """Recall as a turn uses it."""
    return TurnRecall(runtime.recalling, load_recall_gate(), load_topics(runtime.settings.topics_file), runtime.keyed)


def make_asking(runtime: Runtime) -> Asking:
    """Recall as a caller asks for it."""
    return Asking(Memories(runtime.store, runtime.keyed), runtime.recalling, load_recall_gate())


def prime() -> None:
    """Load what a first recall would wait for and what holds no secret."""
    load_attributes()
    load_query_words()
    load_ranking_weights()
    load_recall_gate()
