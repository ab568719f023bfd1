"""Blocks, of which a context window is made, and what they cost.

A block begins with no white space and ends with a newline. Then counts add up: a text made of blocks costs the sum of them. Only
the empty line after a section is not a block: its newline joins the end of the block before it, and costs what it changes there.
"""

from collections.abc import Callable
from typing import NamedTuple

from keepsake.domain.context.values import ContextItem, Reason
from keepsake.domain.scratch_pad import Artifact
from keepsake.domain.turns import Turn, rendered

Count = Callable[[str], int]


class Block(NamedTuple):
    """A text of a window and its count. One without a `ref` is a remark of ours."""

    text: str
    tokens: int
    reason: Reason
    ref: str | None = None


class Measure:
    """Counts what was not counted at write, each text once. For one assembly only: it keeps texts."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._known: dict[str, int] = {}
        self._turns: dict[int, tuple[Block, int]] = {}

    def tokens(self, text: str) -> int:
        """Tokens of a text."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._count(text)
        return known

    def newline(self, text: str) -> int:
        """What one more newline after `text` costs: usually 1 after a letter, 0 after a newline; it may save a token."""
        end = len(text)
        while end and not text[end - 1].isalnum():
            end -= 1
        tail = text[end:]
        return self.tokens(tail + "\n") - self.tokens(tail)

    def price(self, block: Block) -> int:
        """The most that the block can add to a window: its tokens, and what an empty line after it would cost."""
        return block.tokens + max(0, self.newline(block.text))

    def line(self, text: str, reason: Reason, ref: str) -> Block:
        """A block of one of our own lines."""
        block = f"{text.strip()}\n"
        return Block(block, self.tokens(block), reason, ref)

    def turn(self, turn: Turn) -> tuple[Block, int]:
        """A turn as it was counted, and its price."""
        known = self._turns.get(id(turn))  # the request keeps its turns, so that no other can have the id
        if known is None:
            block = Block(rendered(turn.role, turn.name, turn.text), turn.tokens, Reason.RECENT_TURN, f"turn:{turn.turn_id}")
            known = self._turns[id(turn)] = (block, self.price(block))
        return known

    def artifact(self, artifact: Artifact) -> Block:
        """An artifact, whole; its content on lines of its own, where its stored count holds."""
        heading = f"{_name(artifact)}:\n"
        text = f"{heading}{artifact.content}\n"
        if not artifact.content or artifact.content[0].isspace():
            tokens = self.tokens(text)  # white space would join the heading's newline
        else:
            tokens = self.tokens(heading) + artifact.tokens + self.newline(artifact.content)
        return Block(text, tokens, Reason.SCRATCH_PAD, f"artifact:{artifact.name}")

    def listing(self, artifact: Artifact) -> Block:
        """The remark that there is an artifact for which there is no room."""
        text = f"{_name(artifact)}: {artifact.size} bytes, too long to show here\n"
        return Block(text, self.tokens(text), Reason.LISTED)


def joined(first: Block, *others: Block) -> Block:
    """Blocks of one candidate as one block."""
    blocks = (first, *others)
    return first._replace(text="".join(block.text for block in blocks), tokens=sum(block.tokens for block in blocks))


def item_as_block(item: ContextItem) -> Block:
    """A context item, as it was counted."""
    reason = Reason.SAFETY_CRITICAL if item.safety_critical else Reason.RANKED
    return Block(item.block, item.tokens, reason, item.ref)


def _name(artifact: Artifact) -> str:
    return f'Scratch pad "{artifact.name}" ({artifact.kind}, version {artifact.version})'
