"""The session buffer: the working memory of one active session, and the rules by which it grows, is cut, and ends.

Values only: each change gives a new buffer. An expired buffer is nobody's buffer, whatever the store still holds.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from keepsake.domain.intents import IntentStack
from keepsake.domain.scratch_pad import ScratchPad
from keepsake.domain.summary import SessionSummary, Summarizer
from keepsake.domain.turns import Exchange, Turn, exchanges, flattened, rendered

SUMMARY_EVERY = 8  # turns
MAX_BUFFER_TURNS = 20
# Far below the 400 KB of one item, which is billed by the kilobyte on every turn.
MAX_BUFFER_BYTES = 128 * 1024
# One exchange may be larger than the buffer's bound by itself; beyond these its oldest results leave the buffer (never the log),
# and then the end of the call. With a full scratch pad and summary that is 350 KB of text at most, of 400 KB in one item.
MAX_EXCHANGE_TURNS = 64
MAX_EXCHANGE_BYTES = 256 * 1024
_CUT = " […]"


@dataclass(frozen=True, slots=True)
class SessionBuffer:
    """Working memory of one incarnation of a session. `turn_count` counts all its turns, also those that left the buffer."""

    incarnation: str
    started_at_ms: int
    hidden_after_ms: int
    turns: tuple[Turn, ...] = ()
    turn_count: int = 0
    intents: IntentStack = field(default_factory=IntentStack)
    scratch_pad: ScratchPad = field(default_factory=ScratchPad)
    summary: SessionSummary = field(default_factory=SessionSummary)

    def is_live(self, now_ms: int) -> bool:
        """Whether it has not been idle for too long."""
        return now_ms < self.hidden_after_ms

    def touched(self, hidden_after_ms: int) -> "SessionBuffer":
        """The buffer with a later end. Every write moves it."""
        return replace(self, hidden_after_ms=max(hidden_after_ms, self.hidden_after_ms))

    def appended(self, turn: Turn, intents: IntentStack, summarizer: Summarizer) -> "SessionBuffer":
        """The buffer with the turn in it, without the oldest exchanges where all no longer fit.

        After every eighth turn the summary covers all turns, and before a turn leaves that it did not cover yet.
        """
        turns = (*self.turns, turn)
        kept, left = _capped(exchanges(turns), summarizer.count)
        number = self.turn_count + 1
        unseen = any(one.timestamp_ms > self.summary.covered_ms for one in flattened(left))
        is_due = unseen or number % SUMMARY_EVERY == 0
        return replace(
            self,
            turns=flattened(kept),
            turn_count=number,
            intents=intents,
            summary=self.summary.extended(turns, summarizer) if is_due else self.summary,
        )


def _capped(groups: list[Exchange], count: Callable[[str], int]) -> tuple[list[Exchange], list[Exchange]]:
    """The newest exchanges that fit both caps, the newest always among them; and those that leave."""
    first = len(groups) - 1
    turns, size = len(groups[first].turns), groups[first].size
    while first > 0:
        before = groups[first - 1]
        turns, size = turns + len(before.turns), size + before.size
        if turns > MAX_BUFFER_TURNS or size > MAX_BUFFER_BYTES:
            break
        first -= 1
    kept, left = groups[first:], groups[:first]
    newest, cut = _shortened(kept[-1], count)
    return [*kept[:-1], newest], [*left, cut] if cut.turns else left


def _shortened(exchange: Exchange, count: Callable[[str], int]) -> tuple[Exchange, Exchange]:
    """An exchange within its own bounds: the call, as much of it as fits, and its newest results; and the results that leave."""
    call, results = exchange.turns[0], exchange.turns[1:]
    kept = len(results)
    size = exchange.size
    while kept > 1 and (kept + 1 > MAX_EXCHANGE_TURNS or size > MAX_EXCHANGE_BYTES):
        size -= results[len(results) - kept].size
        kept -= 1
    gone = len(results) - kept
    if size > MAX_EXCHANGE_BYTES:
        call = _cut(call, call.size - (size - MAX_EXCHANGE_BYTES) - len(_CUT.encode()), count)
    return Exchange((call, *results[gone:])), Exchange(results[:gone])


def _cut(turn: Turn, size: int, count: Callable[[str], int]) -> Turn:
    """The turn with the beginning of its text, in at most `size` bytes."""
    text = turn.text.encode()[:size].decode(errors="ignore") + _CUT
    return replace(turn, text=text, tokens=count(rendered(turn.role, turn.name, text)))
