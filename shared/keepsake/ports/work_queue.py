"""The queue between what finds work and what does it. Messages hold a version and a reference of ours, never what a user wrote.

Messages of one group are delivered one after another; every message may come more than once, and late.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

MESSAGE_VERSION = 1


@dataclass(frozen=True, slots=True)
class WorkMessage:
    """One piece of work. `ref` names it, `group` whom it belongs to, `deduplication` the same work sent twice: all of them
    keyed hashes or ids of ours.
    """

    ref: str
    group: str
    deduplication: str


class WorkQueue(Protocol):
    """Sends work."""

    def send(self, messages: Sequence[WorkMessage]) -> int:
        """Put messages on the queue, in order within their groups; how many were taken.

        What was not taken is found again by the next run of the planner. Raises QueueUnavailableError when none was.
        """
        ...
