"""What stands beside the stores on one machine: queue, search index and embedder of the data folder, counted per request."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from keepsake.adapters.embedding_local import local_embedder
from keepsake.adapters.sqlite_queue import QueueRules, SqliteWorkQueue
from keepsake.adapters.surroundings import RandomIds, SystemChance
from keepsake.bootstrap import Backends
from keepsake.domain.errors import IndexUnavailableError, QueueUnavailableError
from keepsake.ports.search_index import SearchIndex
from local.calls import CountedEmbedder, CountedIndex
from local.clock import ShiftedClock
from local.folder import DataFolder, LocalError
from local.queues import Consumer, Handler, QueueRunner
from local.template import Feed

MODELS = Path(__file__).parent / "models"
# Deployed, a message that failed comes again after half an hour; here somebody watches.
_VISIBILITY_MS = 60_000
_ALIAS = "keepsake"


@dataclass(frozen=True, slots=True)
class LocalBackends:
    """The makers for the runtime, the queues' runners, and what is to be said at the start."""

    backends: Backends
    runners: tuple[QueueRunner, ...]
    notices: tuple[str, ...]


def local_backends(
    folder: DataFolder, feeds: Sequence[Feed], handlers: Callable[[str], Handler], clock: ShiftedClock, closing: ExitStack
) -> LocalBackends:
    """Queue, index and embedder on this data folder, until `closing` closes them. Raises LocalError."""
    embedder, notice = local_embedder(MODELS)
    index = _index(folder, clock, closing)
    runners = tuple(_runner(folder, feed, handlers(feed.module), clock) for feed in feeds)
    counted = CountedEmbedder(embedder)
    if len(runners) != 1:
        raise LocalError("the template feeds one function from one queue")
    return LocalBackends(
        Backends(
            queue=lambda: runners[0],
            index=lambda: CountedIndex(index),
            embedder=lambda: counted,
            background_embedder=lambda: counted,
            model=lambda: None,
        ),
        runners,
        (notice,) if notice else (),
    )


def _index(folder: DataFolder, clock: ShiftedClock, closing: ExitStack) -> SearchIndex:
    url = os.environ.get("OPENSEARCH_URL", "")
    if url:
        from keepsake.adapters.opensearch_index import open_search_index  # noqa: PLC0415 - slow to load

        alias = os.environ.get("SEARCH_ALIAS") or _ALIAS
        try:
            return open_search_index(url, alias=alias, service="none", region=None, clock=clock, chance=SystemChance())
        except ValueError as error:
            raise LocalError(f"OPENSEARCH_URL: {error}") from None
    from keepsake.adapters.sqlite_index import SqliteSearchIndex  # noqa: PLC0415 - it needs numpy

    try:
        index = SqliteSearchIndex(folder.index)
    except IndexUnavailableError as error:
        raise LocalError(f"{folder.index}: {error}: remove it, and start a reindex once the service runs") from None
    closing.callback(index.close)
    return index


def _runner(folder: DataFolder, feed: Feed, handler: Handler, clock: ShiftedClock) -> QueueRunner:
    rules = QueueRules(
        visibility_ms=_VISIBILITY_MS,
        max_receives=feed.max_receives,
        retention_ms=feed.retention_s * 1000,
        dead_retention_ms=feed.dead_retention_s * 1000,
    )
    try:
        queue = SqliteWorkQueue(folder.queue, clock=clock, rules=rules)
    except QueueUnavailableError as error:
        raise LocalError(f"{folder.queue}: {error}: remove it; what it held is planned again") from None
    return QueueRunner(queue, Consumer(feed.queue, feed.function, handler, feed.batch_size, feed.timeout_s), RandomIds())
