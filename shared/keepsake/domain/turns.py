"""A turn, and how turns that belong together are kept together."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from keepsake.domain.clearance import OPEN, Clearance, visible
from keepsake.domain.errors import TurnTooLargeError

# 60,000 characters of a script that takes three bytes for each. A turn of the log is one item of 400 KB at most.
MAX_TURN_BYTES = 180 * 1024


# All that any reader may take for the end of a line.
_LINE_BREAK = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_INDENTED = r"\g<0>  "


class Role(StrEnum):
    """Whose turn it is."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a session.

    `timestamp_ms` is its place in the log: unique in the session and growing. `occurred_at_ms` is when it was said, which for
    an imported conversation is long before it arrived. `tokens` counts `rendered(turn)` by our own vocabulary, once, at write.
    """

    turn_id: str
    role: Role
    text: str
    timestamp_ms: int
    occurred_at_ms: int
    tokens: int
    name: str | None = None
    in_reply_to: str | None = None
    clearance: Clearance = OPEN

    @property
    def size(self) -> int:
        """Bytes of its text in UTF-8."""
        return len(self.text) if self.text.isascii() else len(self.text.encode())


def rendered(role: Role, name: str | None, text: str) -> str:
    """A turn as it stands in a context window: one block that ends with a newline.

    Its further lines are indented: what somebody said cannot pass for a section, or for somebody else's turn.
    """
    speaker = f"{role.capitalize()} ({name})" if name else role.capitalize()
    return f"{speaker}: {indented(text)}\n"


def indented(text: str) -> str:
    """The text with its further lines indented."""
    return _LINE_BREAK.sub(_INDENTED, text)


def check_turn_size(text: str) -> None:
    """Raises TurnTooLargeError when the text is larger than one turn may be."""
    if len(text) > MAX_TURN_BYTES or len(text.encode()) > MAX_TURN_BYTES:
        raise TurnTooLargeError(f"the text of a turn has at most {MAX_TURN_BYTES} bytes of UTF-8")


@dataclass(frozen=True, slots=True)
class Exchange:
    """Turns that are never parted: a turn, and the tool turns that directly follow it as its results."""

    turns: tuple[Turn, ...]

    @property
    def size(self) -> int:
        """Bytes of text in UTF-8."""
        return sum(turn.size for turn in self.turns)


def exchanges(turns: Iterable[Turn]) -> list[Exchange]:
    """`turns` in order, grouped so that no tool's result is without its call."""
    groups: list[list[Turn]] = []
    for turn in turns:
        if turn.role is Role.TOOL and groups:
            groups[-1].append(turn)
        else:
            groups.append([turn])
    return [Exchange(tuple(group)) for group in groups]


def visible_exchanges(clearance: Clearance, turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """The turns that the clearance covers; of a call that it does not, no result either: it would answer something else."""
    seen = (visible(clearance, group.turns) for group in exchanges(turns) if clearance.covers(group.turns[0].clearance))
    return tuple(turn for group in seen for turn in group)


def flattened(groups: Sequence[Exchange]) -> tuple[Turn, ...]:
    """The turns of the exchanges, in order."""
    return tuple(turn for group in groups for turn in group.turns)
