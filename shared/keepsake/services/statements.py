"""Where a page's statements come from, and for how long it waits for a model that does not answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.domain.errors import ModelUnavailableError
from keepsake.domain.memories.values import Memory
from keepsake.domain.turns import Role
from keepsake.ports.surroundings import Clock
from keepsake.repositories.attempts import AttemptLog, Attempts
from keepsake.services.extraction import Extracted, Extraction
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
        turns = [turn for turn in page.turns if turn.role is Role.USER]
        if self.extraction.model is None:
            return self.extraction.extract(turns, page.before, known)
        now_ms = self.clock.now_ms()
        before = self.attempts.load(user_id, page.session_id, page.turns[0].timestamp_ms, now_ms=now_ms)
        try:
            return self.extraction.extract(turns, page.before, known, last_resort=_is_last(before, now_ms))
        except ModelUnavailableError as error:
            if not error.retryable:  # the same request will be refused again
                return self.extraction.extract(turns, page.before, known, last_resort=True)
            self.attempts.failed(user_id, page.session_id, page.turns[0].timestamp_ms, before, now_ms=now_ms)
            raise


def _is_last(attempts: Attempts, now_ms: int) -> bool:
    """Whether this attempt is the last that waits for a model: the third one, or one a day after the first."""
    waited = attempts.count > 0 and now_ms - attempts.first_ms >= MAX_WAIT_MS
    return waited or attempts.count + 1 >= MAX_ATTEMPTS
