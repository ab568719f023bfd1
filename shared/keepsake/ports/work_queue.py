"""The queue between what finds work and what does it. Messages hold a version and a reference of ours, never what a user wrote.

Messages of one group are delivered one after another; every message may come more than once, and late.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

MESSAGE_VERSION = 1


@dataclass(frozen=True, slots=True)
class WorkMessage:
    """One piece of work. `ref` names it, `group` whom it belongs to, `deduplication` the same work sent twice: all of them
    keyed hashes or ids of ours. `group` and `deduplication` are 1 to 128 letters, digits and ASCII punctuation (SQS's limit).
    """

    ref: str
    group: str
    deduplication: str


class WorkQueue(Protocol):
    """Sends work."""

    def send(self, messages: Sequence[WorkMessage]) -> int:
        """Put messages on the queue, in order within their groups; how many were taken.

        A message whose `deduplication` was sent within the last five minutes counts as taken and is not delivered again.
        What was not taken is found again by the next run of the planner. Raises QueueUnavailableError when none was.
        """
        ...


def body_of(message: WorkMessage) -> str:
    """The message as it travels: JSON of its version and its reference."""
    return json.dumps({"version": MESSAGE_VERSION, "ref": message.ref}, separators=(",", ":"))


def ref_of(body: str) -> str | None:
    """The reference in a body, None when the body is of another version or not ours."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.get("version") != MESSAGE_VERSION:
        return None
    ref = content.get("ref")
    return ref if isinstance(ref, str) and ref else None
