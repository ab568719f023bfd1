"""Reads one turn for the summary: its telling sentence, decisions, questions, topics and tone. By wordings; bounded and linear.

Of a long turn its beginning and its end are read; what stands between code fences is not. Results of tools say nothing here.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from keepsake.domain.phrases import BREAKS, Hit, PhraseTable, Spoken, surface_words
from keepsake.domain.summary.entries import (
    MAX_LINE_CHARACTERS,
    Decision,
    OpenQuestion,
    Reply,
    SummaryLine,
    Tone,
    TurnReading,
    asked,
    block_of,
    decided,
    line_said_by,
    speaker_of,
)
from keepsake.domain.summary.wordings import SummaryWordings
from keepsake.domain.text import UNSPACED, folded, has_unspaced
from keepsake.domain.topics import Kind, TopicLexicon
from keepsake.domain.turns import Role, Turn

_BEGINNING, _END = 3000, 1000  # characters of a long turn that are read
_MAX_SENTENCES = 100
_MAX_QUOTES = 3  # decisions, and questions, of one turn
_MAX_WORDS = 6  # of one turn
_MAX_WORD_BYTES = 24
_NEGATION_REACH = 4  # words
_SHORT_REPLY = 30  # words; who says more than that says something, whatever he does not know
_LONG_REPLY = 1000  # characters, which are an answer in any script
_SHORT_UNSPACED = 80  # characters, likewise
_LONG_THANKS = 10  # characters that a word of thanks may have with all its politeness

_SENTENCE_END = re.compile(r"[.!?؟।](?= )|[。！？]+")
_PARTS = re.compile(r"\s*(\[[A-Za-z][\w.-]*\]\s*)+")
_WORD = re.compile(r"\w{4,}")
_THAI_CLAUSE = re.compile(r"(?<=[\u0e00-\u0e7f])\s+")
_RUN = re.compile(f"[{UNSPACED}]+")
_UNSPACED_WORD = re.compile(r"(?<![\u4e00-\u9fff])[\u4e00-\u9fff]{2,4}(?![\u4e00-\u9fff])|[\u30a1-\u30fa\u30fc]{3,}")
_CLOSING = " \t\r\n\"'”’»)]}!！*_~"
_MARKS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class Summarizer:
    """Reads turns for summaries. `count` counts tokens."""

    count: Callable[[str], int]
    lexicon: TopicLexicon
    wordings: SummaryWordings

    def read(self, turn: Turn) -> TurnReading:
        """What the summary takes of a turn; of a tool's result, or a call that only notes its parts, nothing but the place."""
        speaker = speaker_of(turn)
        if turn.role is Role.TOOL or _PARTS.fullmatch(turn.text):
            return TurnReading(turn.timestamp_ms, turn.clearance, speaker)
        said = _read_of(turn.text)
        sentences = _sentences(said)
        spoken = Spoken.of(said)
        questions = self._questions(sentences) if _may_ask(said) else []
        topics = self._topics(spoken)
        return TurnReading(
            at_ms=turn.timestamp_ms,
            clearance=turn.clearance,
            speaker=speaker,
            said=said,
            line=self._line(turn, speaker, sentences),
            decisions=tuple(self._decisions(turn, speaker, sentences, spoken)),
            questions=tuple(self._open(turn, speaker, question) for question in questions),
            reply=Reply.NONE if questions and all(map(self._asks, sentences)) else self._reply(spoken, said),
            topics=topics,
            words=() if topics else self._words(said, spoken),
            tones=self._tones(said, spoken) if turn.role is Role.USER else (),
        )

    def _line(self, turn: Turn, speaker: str, sentences: list[str]) -> SummaryLine:
        """The first sentence that says something, or else the longest."""
        sentence = next(filter(_tells, sentences), max(sentences, key=len, default=""))
        text = line_said_by(speaker, sentence[: 2 * MAX_LINE_CHARACTERS])
        return SummaryLine(text, self.count(block_of(text)), _weight(text), turn.clearance, turn.timestamp_ms)

    def _topics(self, spoken: Spoken) -> tuple[str, ...]:
        hits = self.lexicon.mentions.find(spoken)
        return tuple(dict.fromkeys(hit.value.name for hit in hits if hit.value.kind is Kind.TOPIC))

    def _words(self, said: str, spoken: Spoken) -> tuple[str, ...]:
        """The most frequent words that say what the turn is about, of equals the longest."""
        stop = self.wordings.stop_words
        counts = Counter(word for word in spoken.words if len(word) > 3 and word not in stop and word.isalpha())
        if spoken.text:
            apart = spoken.text.translate(self.wordings.stop_characters)
            counts.update(word for word in _UNSPACED_WORD.findall(apart) if word not in stop)
        names = sorted(counts, key=len, reverse=True)
        names.sort(key=counts.__getitem__, reverse=True)
        names = names[:_MAX_WORDS]
        if not said.isascii() and names:
            spelled = {folded(word): word.lower() for word in surface_words(said)}
            names = [spelled.get(name, name) for name in names]
        return tuple(name for name in dict.fromkeys(names) if len(name.encode()) <= _MAX_WORD_BYTES)

    def _tones(self, said: str, spoken: Spoken) -> tuple[str, ...]:
        """The tones of a turn, each once; neutral when there is none."""
        hits = self.wordings.tones.find(spoken)
        negations = _places(self.wordings.negations, spoken) if hits else []
        found = [hit.value for hit in hits if not _negated(hit, negations, spoken)]
        if spoken.text:
            found += self.wordings.unspaced_tones.find(spoken.text)
        if not said.isascii():
            found += [tone for character, tone in self.wordings.emoji.items() if character in said]
        return tuple(dict.fromkeys(found)) or (Tone.NEUTRAL.value,)

    def _decisions(self, turn: Turn, speaker: str, sentences: list[str], spoken: Spoken) -> Iterator[Decision]:
        is_users = turn.role is Role.USER
        if not self.wordings.decisions.find(spoken):
            return
        stating = (one for one in reversed(sentences) if not self._asks(one) and self._decides(one, is_users))
        for sentence in reversed(list(islice(stating, _MAX_QUOTES))):
            text = line_said_by(speaker, sentence)
            yield Decision(text, self.count(decided(text)), turn.clearance, turn.timestamp_ms)

    def _decides(self, sentence: str, is_users: bool) -> bool:
        spoken, wordings = Spoken.of(sentence), self.wordings
        hits = [hit for hit in wordings.decisions.find(spoken) if hit.value or (is_users and self._opens(hit, spoken))]
        if not hits:
            return False
        negations, hedges = _places(wordings.negations, spoken), _places(wordings.hedges, spoken)
        return any(not _negated(hit, negations, spoken) and not any(at <= hit.start for at in hedges) for hit in hits)

    def _opens(self, hit: Hit[bool], spoken: Spoken) -> bool:
        """Whether a plan stands where a clause begins, and is one."""
        before = spoken.words[hit.start - 1] if hit.start else "."
        return (before in BREAKS or before in self.wordings.connectors) and not self.wordings.no_plans.at(spoken, hit.start)

    def _questions(self, sentences: list[str]) -> list[str]:
        """The last ones, in order; a short one with the sentence before it, which says what is asked about."""
        clauses = [clause for sentence in sentences for clause in _THAI_CLAUSE.split(sentence)]
        asking = (at for at in reversed(range(len(clauses))) if self._asks(clauses[at]) and not self._is_courtesy(clauses[at]))
        found = list(islice(asking, _MAX_QUOTES))[::-1]
        return [self._in_context(clauses, at) for at in found]

    def _in_context(self, clauses: list[str], at: int) -> str:
        if at == 0 or _tells(clauses[at], words=2, characters=5) or self._asks(clauses[at - 1]):
            return clauses[at]
        both = f"{clauses[at - 1]} {clauses[at]}"
        return both if len(both) <= MAX_LINE_CHARACTERS else clauses[at]

    def _asks(self, sentence: str) -> bool:
        """Whether it is a question of more than a word."""
        end = sentence.rstrip(_CLOSING)
        if end.endswith(_MARKS):
            return len(end.split(maxsplit=1)) > 1 or _unspaced_length(end) > 3
        return has_unspaced(end) and self._ends_asking(folded(end).rstrip("。.!"))

    def _ends_asking(self, end: str) -> bool:
        for polite in self.wordings.polite_endings:
            if end.endswith(polite) and not end.endswith(self.wordings.question_endings):
                end = end.removesuffix(polite)
        return end.endswith(self.wordings.question_endings)

    def _is_courtesy(self, question: str) -> bool:
        spoken = Spoken.of(question)
        starts = spoken.clause_starts
        return any(self.wordings.courtesies.at(spoken, at) for at in starts) or self.wordings.courtesies.find_unspaced(spoken)

    def _open(self, turn: Turn, speaker: str, question: str) -> OpenQuestion:
        text = line_said_by(speaker, question)
        return OpenQuestion(text, speaker, self.count(asked(text)), turn.clearance, turn.timestamp_ms)

    def _reply(self, spoken: Spoken, said: str) -> Reply:
        if len(spoken.words) > 2 * _SHORT_REPLY or len(said) > _LONG_REPLY:
            return Reply.ANSWER
        length = spoken.length + _unspaced_length(spoken.text)
        thanks = sum(hit.end - hit.start or _LONG_THANKS for hit in self.wordings.acknowledgements.find(spoken))
        if thanks >= length:
            return Reply.NONE
        is_short = len(said) <= _SHORT_UNSPACED if spoken.text else length <= _SHORT_REPLY
        return Reply.DEFERRED if is_short and self.wordings.deferrals.find(spoken) else Reply.ANSWER


def _read_of(text: str) -> str:
    """The part of a text that is read."""
    if len(text) > _BEGINNING + _END:
        text = f"{text[:_BEGINNING]}\n{text[-_END:]}"
    if "```" not in text:
        return text
    return "\n".join(text.split("```")[::2])


def _sentences(said: str) -> list[str]:
    """The sentences of a text with their marks; of very many the first and the last."""
    if said.isascii():
        for mark in (". ", "! ", "? "):
            said = said.replace(mark, f"{mark}\n")
    else:
        said = _SENTENCE_END.sub(r"\g<0>\n", said)
    found = [sentence for line in said.split("\n") if (sentence := line.strip())]
    return found if len(found) <= _MAX_SENTENCES else [found[0], *found[1 - _MAX_SENTENCES :]]


def _may_ask(said: str) -> bool:
    return any(mark in said for mark in _MARKS) or has_unspaced(said)


def _tells(sentence: str, words: int = 3, characters: int = 8) -> bool:
    """Whether a sentence says something: so many longer words, or characters of a script without spaces."""
    return len(list(islice(_WORD.finditer(sentence), words))) == words or _unspaced_length(sentence) >= characters


def _weight(text: str) -> int:
    """How much a line tells: how many different longer words it has, four characters of a script without spaces for one."""
    return len(set(_WORD.findall(text))) + _unspaced_length(text) // 4


def _unspaced_length(text: str) -> int:
    return 0 if text.isascii() else sum(map(len, _RUN.findall(text)))


def _places(table: PhraseTable[bool], spoken: Spoken) -> list[int]:
    """Where the words after each phrase begin."""
    return [hit.end for hit in table.find(spoken)]


def _negated(hit: Hit[str] | Hit[bool], negations: list[int], spoken: Spoken) -> bool:
    """Whether a negation ends a few words before the phrase, in the same clause."""
    return any(
        hit.start - _NEGATION_REACH < end <= hit.start and BREAKS.isdisjoint(spoken.words[end : hit.start]) for end in negations
    )
