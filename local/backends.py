"""What stands beside the stores on one machine: queue, search index and embedder of the data folder, counted per request."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from keepsake.adapters.embedding_hashing import HashingEmbedder
from keepsake.adapters.embedding_local import local_embedder
from keepsake.adapters.sqlite_queue import QueueRules, SqliteWorkQueue
from keepsake.adapters.surroundings import RandomIds, SystemChance
from keepsake.bootstrap import Backends
from keepsake.domain.errors import IndexUnavailableError, QueueUnavailableError
from keepsake.ports.embedding import Embedder
from keepsake.ports.search_index import SearchIndex
from local.calls import CountedEmbedder, CountedIndex
from local.clock import ShiftedClock
from local.folder import DataFolder, LocalError
from local.queues import Consumer, Handler, QueueRunner
from local.template import Feed

MODELS = Path(__file__).parent / "models"
# The variable that chooses the embedder, and what it may say: the best one that runs here, or the one that needs no model.
EMBEDDER, HASHING = "KEEPSAKE_EMBEDDER", "hashing"
OPENSEARCH = "OPENSEARCH_URL"
# Deployed, a message that failed comes again after half an hour; here somebody watches.
_VISIBILITY_MS = 60_000
_ALIAS = "keepsake"
_PROBE_S = 3.0  # for an answer at the start


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
    embedder, notice = _embedder()
    index, silence = _elsewhere(clock) if searches_elsewhere() else (_embedded(folder, closing), None)
    runners = tuple(_runner(folder, feed, handlers(feed.module), clock, closing) for feed in feeds)
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
        tuple(said for said in (notice, silence) if said),
    )


def _embedder() -> tuple[Embedder, str | None]:
    chosen = os.environ.get(EMBEDDER, "")
    if chosen == HASHING:
        return HashingEmbedder(), None
    if chosen:
        raise LocalError(f"{EMBEDDER} is {HASHING}, or is not set: then the best embedder is taken that runs here")
    return local_embedder(MODELS)


def searches_elsewhere() -> bool:
    """Whether the index is an OpenSearch node's, and not the data folder's."""
    return bool(os.environ.get(OPENSEARCH))


def _elsewhere(clock: ShiftedClock) -> tuple[SearchIndex, str | None]:
    """The index on an OpenSearch node, and what is to be said when that does not answer."""
    from keepsake.adapters.opensearch_client import Limits  # noqa: PLC0415 - slow to load
    from keepsake.adapters.opensearch_index import open_search_index  # noqa: PLC0415

    def opened(limits: Limits) -> SearchIndex:
        alias = os.environ.get("SEARCH_ALIAS") or _ALIAS
        return open_search_index(
            os.environ[OPENSEARCH], alias=alias, service="none", region=None, clock=clock, chance=SystemChance(), limits=limits
        )

    try:
        opened(Limits(write=_PROBE_S)).current()
    except ValueError:
        raise LocalError(f"{OPENSEARCH} is the address of an OpenSearch node, such as http://127.0.0.1:9200") from None
    except IndexUnavailableError:
        return opened(Limits()), (
            f"No search index answers at {OPENSEARCH}: turns are taken, nothing is consolidated, "
            "and recall makes do with what was said lately until one does."
        )
    return opened(Limits()), None


def _embedded(folder: DataFolder, closing: ExitStack) -> SearchIndex:
    from keepsake.adapters.sqlite_index import SqliteSearchIndex  # noqa: PLC0415 - it needs numpy

    try:
        index = SqliteSearchIndex(folder.index)
    except IndexUnavailableError as error:
        raise LocalError(f"{folder.index}: {error}: remove it, and start again: it is filled anew from the stores") from None
    closing.callback(index.close)
    return index


def _runner(folder: DataFolder, feed: Feed, handler: Handler, clock: ShiftedClock, closing: ExitStack) -> QueueRunner:
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
    closing.callback(queue.close)
    return QueueRunner(queue, Consumer(feed.queue, feed.function, handler, feed.batch_size, feed.timeout_s), RandomIds())
