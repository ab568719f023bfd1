"""Where statements come from: a model where there is one, with rules behind it. What fails stays pending, but not for ever."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from keepsake.domain.extraction.by_rules import extract_by_rules
from keepsake.domain.extraction.rules import ExtractionRules
from keepsake.domain.memories.values import Memory, Statement
from keepsake.domain.turns import Role
from keepsake.services.pages import Page


class StatementSource(Protocol):
    """Finds what the user's own words on a page state."""

    def statements(self, user_id: str, page: Page, known: Sequence[Memory]) -> tuple[Statement, ...]:
        """The statements. Raises ModelUnavailableError while the page is to wait for a model."""
        ...


@dataclass(frozen=True, slots=True)
class RuleStatements:
    """Statements by rules alone."""

    rules: ExtractionRules

    def statements(self, user_id: str, page: Page, known: Sequence[Memory]) -> tuple[Statement, ...]:  # noqa: ARG002 - of the port
        """See StatementSource. Never raises."""
        return extract_by_rules([turn for turn in page.turns if turn.role is Role.USER], self.rules)
