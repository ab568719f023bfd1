"""Fed by the queue: turn what a session said into what is known, and tell the index of what changed."""

from collections.abc import Mapping

from keepsake.api.queued import WorkItem, queued_handler
from keepsake.bootstrap import Runtime


def consolidate(services: Runtime, item: WorkItem, until_ms: int) -> Mapping[str, int]:
    """One session, one user's outbox, or one stretch of a reindex. What is not done stays pending, and is planned again."""
    return services.learning.work.do(item.ref, until_ms=until_ms)


lambda_handler = queued_handler(consolidate)
