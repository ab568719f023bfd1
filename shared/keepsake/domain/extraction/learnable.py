"""The user's own words in a turn. Nothing else is learned: no assistant's words, no tool's, nothing pasted or recalled.

What is left out: tagged blocks (system reminders, memories, documents), fenced code, quoted lines, transcripts, sections and
summaries as context windows have them, quoted speech, and what the assistant is said to have said. Linear in the text's length.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from keepsake.domain.extraction.attributions import CONTRAST, SAYING, attributed
from keepsake.domain.extraction.pasted import CHAT_MARK, LABEL, RECALLED_HEADING, SUMMARY, TAG
from keepsake.domain.tiers import HEADINGS
from keepsake.domain.turns import Role, Turn

_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_QUOTED_LINE = re.compile(r"\s{0,3}[>＞]")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_OURS = frozenset(heading.strip().casefold() for heading in HEADINGS.values())
_LISTED = re.compile(r"\s*(?:[-*•·–—]\s|\d{1,3}[.)]\s)|\s{2,}\S|\t")
_OF_ONESELF = re.compile(r"[^.!?\n:]{0,12}\b(?:I|I've|ich|j'|je|yo|io|eu|ik|я)\b|[^.!?\n:]{0,60}\b(?:I|ich|я) ", re.IGNORECASE)
_QUOTED = re.compile(
    r'"([^"\n]{1,2000})"|“([^“”\n]{1,2000})”|„([^“”„\n]{1,2000})[“”]|[«»]([^«»\n]{1,2000})[«»]|[「『]([^「」『』\n]{1,2000})[」』]'
)
_SPEECH_END = re.compile(r"[.!?。！？؟।,，、…]\s*$")
_SENTENCE_END = re.compile(r"[.!?…]+(?=[\s\"”»)]|$)|[。！？؟।]+|\n")
_LONG_QUOTE_WORDS, _LONG_QUOTE_CHARACTERS = 9, 60
_NEAR = 24  # characters between a verb of saying and the quotation that it introduces


def learnable(turn: Turn) -> str:
    """The words of a turn that may be learned: the user's own, parts that were left out standing as line breaks; else empty."""
    return own_words(turn.text) if turn.role is Role.USER else ""


def own_words(text: str) -> str:
    """What of a user's text is the user's own, in the order and wording of the text; empty when nothing is. Never raises."""
    lines = _unquoted_lines(_unfenced(_untagged(text).splitlines()))
    return _unattributed(_unspoken("\n".join(lines))).strip()


def _untagged(text: str) -> str:
    """Without tagged blocks; one that is never closed goes on to the end."""
    marks = list(CHAT_MARK.finditer(text)) if "<|" in text or "[" in text or "<<" in text else []
    if marks:
        text = text[: marks[0].start()] + "\n" + text[marks[-1].end() :]
    kept: list[str] = []
    depth, begin = 0, 0
    for tag in TAG.finditer(text):
        if depth == 0:
            kept.append(text[begin : tag.start()])
        if tag["close"]:
            depth = max(0, depth - 1)
        elif not tag["empty"]:
            depth += 1
        begin = tag.end()
    return "\n".join([*kept, text[begin:] if depth == 0 else ""])


def _unfenced(lines: list[str]) -> list[str]:
    """Without fenced code; a fence that is never closed goes on to the end."""
    kept: list[str] = []
    fenced = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
            kept.append("")
        elif not fenced:
            kept.append(line)
    return kept


def _unquoted_lines(lines: list[str]) -> list[str]:
    """Without quoted lines, transcripts, and sections and summaries of a context window."""
    kept: list[str] = []
    pasted = _Pasted(_transcript(lines))
    for index, line in enumerate(lines):
        if not pasted.takes(index, line):
            kept.append(line)
        elif kept and kept[-1]:
            kept.append("")
    return kept


def _transcript(lines: list[str]) -> range:
    """The lines from the first speaker's label to the last, when there is anybody but the user among them; else none."""
    labelled = [(index, match["other"] is not None) for index, line in enumerate(lines) if (match := LABEL.match(line))]
    if not any(other for _, other in labelled):
        return range(0)
    return range(labelled[0][0], labelled[-1][0] + 1)


class _Pasted:
    """Which lines were pasted, asked line by line.

    A transcript's last turn and a summary go on to the next empty line, a section of a context window and a list under a
    heading beyond it for as long as its lines are items.
    """

    def __init__(self, transcript: range) -> None:
        self._transcript = transcript
        self._on = False
        self._listed = False  # whether items after an empty line still belong to it
        self._after_gap = False

    def takes(self, index: int, line: str) -> bool:
        """Whether the next line was pasted."""
        if index in self._transcript:
            self._begin(listed=False)
            return True
        if _QUOTED_LINE.match(line):
            return True
        if _begins_section(line):
            self._begin(listed=True)
        elif _begins_summary(line):
            self._begin(listed=line.rstrip().endswith((":", "：")))
        else:
            self._go_on(line)
        return self._on

    def _begin(self, *, listed: bool) -> None:
        self._on, self._listed, self._after_gap = True, listed, False

    def _go_on(self, line: str) -> None:
        if not line.strip():
            self._after_gap = True
            self._on = self._on and self._listed
        elif self._on and (_HEADING.match(line) or (self._after_gap and not _LISTED.match(line))):
            self._on = False


def _begins_section(line: str) -> bool:
    if not _HEADING.match(line):
        return False
    return line.strip().casefold() in _OURS or RECALLED_HEADING.search(line[:200]) is not None


def _begins_summary(line: str) -> bool:
    """A phrase of summaries at the beginning of a line that does not go on with the writer's own "I"."""
    beginning = line.lstrip()[:300]
    match = SUMMARY.match(beginning)
    return match is not None and not _OF_ONESELF.match(beginning[match.end() : match.end() + 80])


def _unspoken(text: str) -> str:
    """Without quoted speech; a title or a name in quotation marks stays."""
    kept: list[str] = []
    said: list[int] | None = None
    begin = 0
    for quotation in _QUOTED.finditer(text):
        said = [verb.end() for verb in SAYING.finditer(text)] if said is None else said
        if _is_speech(next(filter(None, quotation.groups()))) or _introduced(text, said, quotation.start()):
            kept.append(text[begin : quotation.start()])
            begin = quotation.end()
    return " ".join([*kept, text[begin:]])


def _is_speech(inside: str) -> bool:
    long = len(inside) >= _LONG_QUOTE_CHARACTERS or len(inside.split()) >= _LONG_QUOTE_WORDS
    return long or _SPEECH_END.search(inside[-4:]) is not None


def _introduced(text: str, said: list[int], place: int) -> bool:
    """Whether a verb of saying ends shortly before that place, on the same line."""
    index = bisect_right(said, place)
    return index > 0 and place - said[index - 1] <= _NEAR and "\n" not in text[said[index - 1] : place]


def _unattributed(text: str) -> str:
    """Without sentences that say what the assistant said or knows; what such a sentence sets against it stays."""
    return "".join(map(_own_part, _sentences(text)))


def _own_part(sentence: str) -> str:
    claim = attributed(sentence)
    if claim is None:
        return sentence
    contrast = CONTRAST.search(sentence, claim.end())
    return sentence[contrast.end() :].lstrip() if contrast else "\n"


def _sentences(text: str) -> Iterator[str]:
    begin = 0
    for end in _SENTENCE_END.finditer(text):
        yield text[begin : end.end()]
        begin = end.end()
    yield text[begin:]
