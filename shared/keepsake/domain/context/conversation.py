"""The working tier's own part: topics, scratch pad, the newest turns whole, and a summary of those before them, and of no other.

Filled in this order: topics, artifacts within their bound, turns, summary, and what artifacts then still fit.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from keepsake.domain.context.blocks import Block, joined
from keepsake.domain.context.sections import LeftOut, Section, Slot
from keepsake.domain.context.values import AssemblyRequest, Reason
from keepsake.domain.scratch_pad import Artifact
from keepsake.domain.summary import (
    Decision,
    OpenQuestion,
    SessionSummary,
    SummaryLine,
    Tone,
    speaker_of,
    tone_line,
    topics_line,
)
from keepsake.domain.turns import Role, Turn, exchanges, flattened

_SUMMARY_HEADING = "Earlier in this conversation:"
_FIRST_QUOTES = 3  # decisions, and questions, that come before the lines; the older ones come after


def fill_conversation(section: Section, request: AssemblyRequest, grant: int) -> None:
    """Fills the section's own part anew, up to its limit. What `grant` bounds does not grow with it: the turns have the rest."""
    profile = request.model_profile
    section.clear()
    if request.topics.strip():
        section.offer_line(0, section.measure.line(request.topics, Reason.TOPICS, "topics"))
    waiting = _artifacts(section, request.artifacts, int(grant * profile.scratch_pad_share))
    earlier, shown = _turns(section, request, int(grant * profile.summary_share))
    _summary(section, _of_earlier(request, earlier, shown))
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


def _turns(section: Section, request: AssemblyRequest, reserve: int) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """Places the newest exchanges that fit. Gives those before them, for whose summary some room is kept, and the placed ones."""
    groups = exchanges(request.turns)
    prices = [sum(section.measure.turn(turn)[1] for turn in group.turns) for group in groups]
    first = _first_that_fits(prices, section.room)
    if first > 0 or _is_told(_of_earlier(request, (), request.turns)):
        newest = len(groups) - 1  # which comes before any summary
        first = max(first, min(newest, _first_that_fits(prices, section.room - reserve)))
    shown = flattened(groups[first:])
    for order, turn in enumerate(shown):
        section.put(Slot.TURNS, (order,), *section.measure.turn(turn))
    earlier = flattened(groups[:first])
    section.left_out.extend(LeftOut(f"turn:{turn.turn_id}", turn.tokens) for turn in earlier)
    return earlier, shown


def _first_that_fits(prices: list[int], room: int) -> int:
    """Index of the oldest that fits together with all that came after it."""
    first = len(prices)
    while first > 0 and (room := room - prices[first - 1]) >= 0:
        first -= 1
    return first


def _of_earlier(request: AssemblyRequest, earlier: tuple[Turn, ...], shown: tuple[Turn, ...]) -> SessionSummary:
    """The summary of what comes before the turns that are shown. A question whose answer may stand among these is not open."""
    summary = request.summary.extended(earlier, request.reader) if earlier and request.reader else request.summary
    if not shown:
        return summary
    summary = summary.before(shown[0].timestamp_ms)
    if not summary.questions:
        return summary
    speakers = {speaker_of(turn) for turn in shown if turn.role is not Role.TOOL}
    still_open = tuple(one for one in summary.questions if one.deferred or speakers <= {one.asker})
    return replace(summary, questions=still_open)


def _is_told(summary: SessionSummary) -> bool:
    return bool(summary.lines or summary.decisions or summary.questions or summary.topics)


def _summary(section: Section, summary: SessionSummary) -> None:
    """Places what fits of a summary: the newest decisions and questions first, then the tone, the newest lines, and the rest."""
    if not _is_told(summary):
        return
    heading = section.measure.line(_SUMMARY_HEADING, Reason.SUMMARY, "summary")
    quoted = {one.text for one in summary.decisions} | {one.text for one in summary.questions}
    decisions, questions = _blocks(summary.decisions), _blocks(summary.questions)
    lines = _blocks(line for line in summary.lines if line.text not in quoted)
    named = summary.topics
    topics = [_line(section, topics_line(named))] if named else []
    tone = [_line(section, tone_line(summary.tone))] if summary.tone is not Tone.NEUTRAL else []
    newest = [*decisions[-_FIRST_QUOTES:], *questions[-_FIRST_QUOTES:]]
    older = [*decisions[:-_FIRST_QUOTES], *questions[:-_FIRST_QUOTES]]
    ranked = [*newest[::-1], *tone, *lines[::-1], *older[::-1], *topics]
    kept = {id(block) for block in section.fitting(ranked, section.room - heading.tokens)}
    blocks = [*topics, *lines, *decisions, *questions, *tone]
    block = joined(heading, *(one for one in blocks if not kept or id(one) in kept))
    if kept:
        section.put(Slot.SUMMARY, (), block)
    else:
        section.leave_out(block, Reason.OVER_BUDGET)


def _blocks(entries: Iterable[SummaryLine | Decision | OpenQuestion]) -> list[Block]:
    return [Block(entry.block, entry.tokens, Reason.SUMMARY, "summary") for entry in entries]


def _line(section: Section, text: str) -> Block:
    return section.measure.line(text, Reason.SUMMARY, "summary")


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
