"""The working tier's own part: topics, scratch pad, the newest turns whole, and a summary of those before them.

Filled in this order: topics, artifacts within their bound, turns, summary, and what artifacts then still fit.
"""

from dataclasses import dataclass

from keepsake.domain.context.blocks import Block, joined
from keepsake.domain.context.sections import LeftOut, Section, Slot
from keepsake.domain.context.values import AssemblyRequest, Reason
from keepsake.domain.scratch_pad import Artifact
from keepsake.domain.summary import RunningSummary
from keepsake.domain.turns import Turn, exchanges, flattened

_SUMMARY_HEADING = "Earlier in this conversation:"


def fill_conversation(section: Section, request: AssemblyRequest, grant: int) -> None:
    """Fills the section's own part anew, up to its limit. What `grant` bounds does not grow with it: the turns have the rest."""
    profile = request.model_profile
    section.clear()
    if request.topics.strip():
        section.offer_line(0, section.measure.line(request.topics, Reason.TOPICS, "topics"))
    waiting = _artifacts(section, request.artifacts, int(grant * profile.scratch_pad_share))
    earlier = _turns(section, request, int(grant * profile.summary_share))
    _summary(section, request.summary.extended(earlier, section.measure.tokens) if earlier else request.summary)
    _late_artifacts(section, waiting)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An artifact that found no place yet, and the remark that stands for it if that had one."""

    order: int
    block: Block
    listing: Block | None


def _artifacts(section: Section, artifacts: tuple[Artifact, ...], bound: int) -> list[_Waiting]:
    """Places artifacts, the last changed first, and remarks on those that are too large. Together they stay within the bound."""
    waiting: list[_Waiting] = []
    for order, artifact in sorted(enumerate(artifacts), key=lambda numbered: (-numbered[1].updated_at_ms, numbered[0])):
        before = section.room
        block = section.measure.artifact(artifact)
        if not section.offer(Slot.SCRATCH_PAD, (order,), block, bound):
            listing = section.measure.listing(artifact)
            listed = section.offer(Slot.SCRATCH_PAD, (order,), listing, bound)
            waiting.append(_Waiting(order, block, listing if listed else None))
        bound -= before - section.room
    return waiting


def _turns(section: Section, request: AssemblyRequest, reserve: int) -> tuple[Turn, ...]:
    """Places the newest exchanges that fit, and gives the turns before them, for whose summary some room is kept."""
    groups = exchanges(request.turns)
    prices = [sum(section.measure.turn(turn)[1] for turn in group.turns) for group in groups]
    first = _first_that_fits(prices, section.room)
    if first > 0 or request.summary.lines:
        newest = len(groups) - 1  # which comes before any summary
        first = max(first, min(newest, _first_that_fits(prices, section.room - reserve)))
    for order, turn in enumerate(flattened(groups[first:])):
        section.put(Slot.TURNS, (order,), *section.measure.turn(turn))
    earlier = flattened(groups[:first])
    section.left_out.extend(LeftOut(f"turn:{turn.turn_id}", turn.tokens) for turn in earlier)
    return earlier


def _first_that_fits(prices: list[int], room: int) -> int:
    """Index of the oldest that fits together with all that came after it."""
    first = len(prices)
    while first > 0 and (room := room - prices[first - 1]) >= 0:
        first -= 1
    return first


def _summary(section: Section, summary: RunningSummary) -> None:
    """Places the newest lines that fit, in order."""
    if not summary.lines:
        return
    heading = section.measure.line(_SUMMARY_HEADING, Reason.SUMMARY, "summary")
    lines = [Block(line.block, line.tokens, Reason.SUMMARY, "summary") for line in summary.lines]
    kept = section.fitting(lines[::-1], section.room - heading.tokens)[::-1]
    block = joined(heading, *(kept or lines))
    if kept:
        section.put(Slot.SUMMARY, (), block)
    else:
        section.leave_out(block, Reason.OVER_BUDGET)


def _late_artifacts(section: Section, waiting: list[_Waiting]) -> None:
    """Places in what room is left the artifacts that wait for it; the others are left out."""
    for one in waiting:
        saved = section.measure.price(one.listing) if one.listing else 0
        if section.measure.price(one.block) <= section.room + saved:
            if one.listing:
                section.withdraw(one.listing)
            section.put(Slot.SCRATCH_PAD, (one.order,), one.block)
        else:
            section.leave_out(one.block, Reason.LISTED if one.listing else Reason.OVER_BUDGET)
