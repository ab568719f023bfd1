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

        Two promises let counts be stored, and added up later without a tokenizer:

        - Where `a` ends with a newline and `b` begins with no white space, the count of both together is the sum.
        - What one more newline at the end of a text adds depends only on what stands there after its last letter or digit.
        """
        ...
