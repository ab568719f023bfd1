"""Where a page's statements come from, and for how long it waits for a model that does not answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.domain.clearance import visible
from keepsake.domain.errors import ModelUnavailableError
from keepsake.domain.memories.values import Memory
from keepsake.domain.turns import Role
from keepsake.ports.surroundings import Clock
from keepsake.repositories.attempts import AttemptLog, Attempts
from keepsake.services.extraction import Extracted, Extraction, together
from keepsake.services.pages import Page

# So often, and for so long, turns wait for a model; then the rules take over.
MAX_ATTEMPTS = 3
MAX_WAIT_MS = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class StatementSource:
    """Extracts, with patience that ends."""

    extraction: Extraction
    attempts: AttemptLog
    clock: Clock

    def statements(self, user_id: str, page: Page, known: Sequence[Memory]) -> Extracted:
        """What the user's own words on a page state; `known` is what they may replace.

        Raises ModelUnavailableError while the page is to wait for the model, and StoreUnavailableError.
        """
        if self.extraction.model is None:
            return self._extracted(page, known)
        now_ms = self.clock.now_ms()
        before = self.attempts.load(user_id, page.session_id, page.turns[0].timestamp_ms, now_ms=now_ms)
        try:
            return self._extracted(page, known, last_resort=_is_last(before, now_ms))
        except ModelUnavailableError as error:
            if not error.retryable:  # the same request will be refused again
                return self._extracted(page, known, last_resort=True)
            self.attempts.failed(user_id, page.session_id, page.turns[0].timestamp_ms, before, now_ms=now_ms)
            raise

    def _extracted(self, page: Page, known: Sequence[Memory], *, last_resort: bool = False) -> Extracted:
        """What the turns state. Each is read with no more than its own readers may see, else it would tell them of the rest."""
        turns = [turn for turn in page.turns if turn.role is Role.USER]
        found = []
        for clearance in dict.fromkeys(turn.clearance for turn in turns):
            heard = [memory for memory in known if memory.is_for(clearance)]
            before = visible(clearance, page.before)
            extracted = self.extraction.extract(visible(clearance, turns), before, heard, last_resort=last_resort)
            found.append(extracted.about(turn.turn_id for turn in turns if turn.clearance == clearance))
        return together(found, (turn.turn_id for turn in turns))


def _is_last(attempts: Attempts, now_ms: int) -> bool:
    """Whether this attempt is the last that waits for a model: the third one, or one a day after the first."""
    waited = attempts.count > 0 and now_ms - attempts.first_ms >= MAX_WAIT_MS
    return waited or attempts.count + 1 >= MAX_ATTEMPTS
