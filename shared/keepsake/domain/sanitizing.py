"""What may leave for a model. A model port takes nothing but what is made here."""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

from keepsake.domain.sensitive import CONTACTS, SECRETS, Sensitive, Span, sensitive_spans

_MARK = re.compile(r"\[[A-Z_]{1,20}_\d{1,9}\]")


@dataclass(frozen=True, slots=True)
class SanitizedText:
    """A text for an embedder: secrets and record numbers are masked, names never."""

    text: str


@dataclass(frozen=True, slots=True)
class SanitizedPrompt:
    """A prompt for a language model: what we ask, and the data it is asked of, masked reversibly within the request.

    `masks` are pairs of a mark and what it stands for.
    """

    system: str
    data: str
    masks: tuple[tuple[str, str], ...] = ()

    def restored(self, text: str) -> str:
        """`text` with each mark replaced by what it stands for. Of an answer in JSON, restore the strings and not the JSON."""
        originals = dict(self.masks)
        return _MARK.sub(lambda mark: originals.get(mark.group(), mark.group()), text)


def for_embedding(text: str) -> SanitizedText:
    """The text as an embedder may see it: the same mark for every secret of a kind. Any text, never raises."""
    return SanitizedText("".join(piece if span is None else f"[{span.kind}]" for piece, span in _pieces(text, SECRETS)))


def for_extraction(system: str, *parts: str) -> SanitizedPrompt:
    """A prompt on the `parts`, a line break between them. In them secrets, record numbers and contact data are masked.

    The same text has the same mark wherever it stands. A mark that a part holds already stays what it is: none of ours is equal.
    """
    marks = _Marks(parts)
    return SanitizedPrompt(system, "\n".join([marks.masked(part) for part in parts]), marks.pairs)


class _Marks:
    """Numbers marks in the order of what they stand for, by kind."""

    def __init__(self, parts: tuple[str, ...]) -> None:
        self._taken = {mark for part in parts for mark in _MARK.findall(part)}
        self._counts: dict[Sensitive, int] = {}
        self._known: dict[str, str] = {}

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        return tuple((mark, original) for original, mark in self._known.items())

    def masked(self, text: str) -> str:
        kinds = SECRETS | CONTACTS
        return "".join(piece if span is None else self._mark(piece, span.kind) for piece, span in _pieces(text, kinds))

    def _mark(self, original: str, kind: Sensitive) -> str:
        if original not in self._known:
            mark = self._next(kind)
            while mark in self._taken:
                mark = self._next(kind)
            self._known[original] = mark
        return self._known[original]

    def _next(self, kind: Sensitive) -> str:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"[{kind}_{self._counts[kind]}]"


def _pieces(text: str, kinds: Set[Sensitive]) -> Iterator[tuple[str, Span | None]]:
    """The text in pieces: each a sensitive span, or what stands between two."""
    begin = 0
    for span in sensitive_spans(text, kinds):
        yield text[begin : span.start], None
        yield text[span.start : span.end], span
        begin = span.end
    yield text[begin:], None
