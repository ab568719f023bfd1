"""One tier of a context window while it is being filled: what stands in it, what it costs, and what found no room."""

from collections.abc import Sequence
from enum import IntEnum
from operator import itemgetter
from typing import NamedTuple

from keepsake.domain.context.blocks import Block, Measure
from keepsake.domain.context.values import Reason
from keepsake.domain.tiers import HEADINGS, Tier

Order = tuple[float | str, ...]


class Slot(IntEnum):
    """Where in a section a block stands."""

    OPENING = 0  # topics; profile and welcome
    ITEMS = 1
    SCRATCH_PAD = 2
    SUMMARY = 3
    TURNS = 4


class Placed(NamedTuple):
    """A block at its place: a slot, and an order in it."""

    slot: Slot
    order: Order
    block: Block
    price: int


class LeftOut(NamedTuple):
    """A candidate that has no place."""

    ref: str
    tokens: int
    reason: Reason = Reason.OVER_BUDGET
    duplicate_of: str | None = None


class Section:
    """A tier that is filled up to `limit`. Whatever it comes to hold pays for its heading too."""

    def __init__(self, tier: Tier, measure: Measure) -> None:
        self.tier = tier
        self.measure = measure
        self.limit = 0
        self.placed: list[Placed] = []
        self.left_out: list[LeftOut] = []
        self.cut_short = False  # whether something is in, but not all of its lines
        self._heading = measure.tokens(HEADINGS[tier])
        self._cost = self._heading

    @property
    def spent(self) -> int:
        """The most that the section costs as it is."""
        return self._cost if self.placed else 0

    @property
    def room(self) -> int:
        """What the next block may cost."""
        return self.limit - self._cost

    @property
    def wants_more(self) -> bool:
        """Whether something is left out that more room could let in."""
        return self.cut_short or any(one.reason is not Reason.DUPLICATE for one in self.left_out)

    def put(self, slot: Slot, order: Order, block: Block, price: int | None = None) -> None:
        """Places a block, whatever it costs. A `price` that is known need not be found again."""
        cost = self.measure.price(block) if price is None else price
        self.placed.append(Placed(slot, order, block, cost))
        self._cost += cost

    def offer(self, slot: Slot, order: Order, block: Block, bound: int | None = None) -> bool:
        """Places a block if it costs no more than there is room (and no more than `bound`); says whether it did."""
        price = self.measure.price(block)
        fits = price <= (self.room if bound is None else min(bound, self.room))
        if fits:
            self.put(slot, order, block, price)
        return fits

    def offer_line(self, order: int, block: Block) -> None:
        """Places one of our own lines at the opening, or leaves it out."""
        if not self.offer(Slot.OPENING, (order,), block):
            self.leave_out(block, Reason.OVER_BUDGET)

    def fitting(self, lines: Sequence[Block], room: int) -> list[Block]:
        """Those of the lines, the first ones first, that cost no more than `room` together."""
        kept: list[Block] = []
        for line in lines:
            if (price := self.measure.price(line)) <= room:
                kept.append(line)
                room -= price
        self.cut_short = self.cut_short or len(kept) < len(lines)
        return kept

    def leave_out(self, block: Block, reason: Reason) -> None:
        """Remembers that a candidate has no place."""
        if block.ref is not None:
            self.left_out.append(LeftOut(block.ref, block.tokens, reason))

    def withdraw(self, block: Block) -> None:
        """Takes a block out again."""
        self._keep([placed for placed in self.placed if placed.block is not block])

    def clear(self) -> None:
        """Takes out everything but the items, to be filled anew."""
        self._keep([placed for placed in self.placed if placed.slot is Slot.ITEMS])
        self.cut_short = False
        self.left_out = [one for one in self.left_out if one.reason is Reason.DUPLICATE]

    def _keep(self, placed: list[Placed]) -> None:
        self.placed = placed
        self._cost = self._heading + sum(one.price for one in placed)

    def in_print(self) -> list[Block]:
        """The blocks in their order."""
        return [one.block for one in sorted(self.placed, key=itemgetter(0, 1))]
