"""Counting tokens."""

from typing import Protocol


class TokenCounter(Protocol):
    """Counts text as a model's tokenizer would. An inexact counter errs upwards."""

    @property
    def exact(self) -> bool:
        """Whether `count` is the tokenizer's own figure."""
        ...

    def count(self, text: str) -> int:
        """Tokens of `text`, whatever it holds: no text is a control token.

        Additive over lines: where `a` ends with a newline and `b` begins with no white space, the count of both is the sum.
        """
        ...
