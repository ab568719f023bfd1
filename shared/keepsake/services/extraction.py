"""What turns state, by a language model where there is one, and by rules where it is of no use. Never silently nothing.

An answer that cannot be used is asked for once more, with what was wrong with it; then the rules take over. A model that does not
answer at all is another thing: the turns are to wait for it, unless this is their last resort.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from keepsake.domain.errors import ModelUnavailableError
from keepsake.domain.extraction.by_rules import extract_by_rules
from keepsake.domain.extraction.learnable import learnable
from keepsake.domain.extraction.model_answer import Asked, Reading, read_answer
from keepsake.domain.extraction.model_prompt import MAX_CANDIDATES, AnswerProblem, Entry, batches, prompt_for
from keepsake.domain.extraction.model_schema import SCHEMA, SCHEMA_NAME
from keepsake.domain.extraction.rules import ExtractionRules
from keepsake.domain.memories.values import Memory, Statement
from keepsake.domain.turns import Turn
from keepsake.ports.language_model import LanguageModel, ModelAnswer, ModelTask

MAX_ANSWER_TOKENS = 4_000
_CONTEXT_TURNS = 6
_ATTEMPTS = 2  # the second is the repair


class Way(StrEnum):
    """How the statements were made."""

    NOTHING = "nothing"  # no turn holds words of the user's own
    MODEL = "model"
    RULES = "rules"
    BOTH = "both"  # the rules took over some of the turns


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was found, in the order of the turns, and how.

    `problems` counts answers that could not be used, `dropped` parts of answers, each by why; `unavailable`: the model did not
    answer and the rules took over. Tokens are the model's own count.
    """

    statements: tuple[Statement, ...]
    way: Way
    problems: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    unavailable: bool = False
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def about(self, turn_ids: Iterable[str]) -> "Extracted":
        """Only what these turns state; what it cost stays."""
        wanted = frozenset(turn_ids)
        return replace(self, statements=tuple(one for one in self.statements if one.turn_id in wanted))


def together(found: Sequence[Extracted], turn_ids: Iterable[str]) -> Extracted:
    """Several extractions as one, in the order of the turns."""
    places = {turn_id: place for place, turn_id in enumerate(turn_ids)}
    ways = {one.way for one in found} - {Way.NOTHING} or {Way.NOTHING}
    return Extracted(
        statements=tuple(sorted((said for one in found for said in one.statements), key=lambda said: places[said.turn_id])),
        way=ways.pop() if len(ways) == 1 else Way.BOTH,
        problems=sum((Counter(one.problems) for one in found), Counter()),
        dropped=sum((Counter(one.dropped) for one in found), Counter()),
        unavailable=any(one.unavailable for one in found),
        calls=sum(one.calls for one in found),
        input_tokens=sum(one.input_tokens for one in found),
        output_tokens=sum(one.output_tokens for one in found),
    )


@dataclass(frozen=True, slots=True)
class Extraction:
    """Finds statements. `model` None: by rules alone."""

    rules: ExtractionRules
    model: LanguageModel | None = None

    def extract(
        self, turns: Sequence[Turn], before: Sequence[Turn], candidates: Sequence[Memory], *, last_resort: bool = False
    ) -> Extracted:
        """What the user's own words in `turns` state. `before` helps to understand them; `candidates` is what they may replace.

        Raises ModelUnavailableError, unless `last_resort`: then nothing is lost, and the turns are to be tried again. With
        `last_resort` the rules take over from a model that does not answer.
        """
        if not any(map(learnable, turns)):
            return Extracted((), Way.NOTHING)
        if self.model is None:
            return Extracted(extract_by_rules(turns, self.rules), Way.RULES)
        run = _Run(self.model, self.rules, candidates[:MAX_CANDIDATES], last_resort=last_resort)
        for entries in batches(turns, before[-_CONTEXT_TURNS:]):
            run.take(entries)
        return run.extracted(turns)


class _Run:
    """One extraction by a model: its batches, one after the other, and what they cost."""

    def __init__(self, model: LanguageModel, rules: ExtractionRules, candidates: Sequence[Memory], *, last_resort: bool) -> None:
        self._model = model
        self._rules = rules
        self._candidates = candidates
        self._last_resort = last_resort
        self._found: list[Statement] = []
        self._ways: set[Way] = set()
        self._problems: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._answers: list[ModelAnswer] = []
        self._unavailable = False

    def take(self, entries: Sequence[Entry]) -> None:
        """Adds what a batch states."""
        by_rules = extract_by_rules(_turns_of(entries), self._rules)
        reading = None if self._unavailable else self._by_model(entries, plain=bool(by_rules))
        self._ways.add(Way.RULES if reading is None else Way.MODEL)
        self._found.extend(by_rules if reading is None else reading.statements)
        if reading is not None:
            self._dropped.update(reading.dropped)

    def _by_model(self, entries: Sequence[Entry], *, plain: bool) -> Reading | None:
        """What the model found; None when it was of no use. `plain`: even the rules found something."""
        problem: AnswerProblem | None = None
        for _ in range(_ATTEMPTS):
            try:
                read = self._attempt(entries, problem)
            except ModelUnavailableError:
                if not self._last_resort:
                    raise
                self._unavailable = True
                return None
            if isinstance(read, Reading) and (read.statements or not plain):
                return read
            problem = AnswerProblem.EMPTY if isinstance(read, Reading) else read
            self._problems[problem] += 1
        return None

    def _attempt(self, entries: Sequence[Entry], problem: AnswerProblem | None) -> Reading | AnswerProblem:
        attributes = self._rules.policies
        prompt = prompt_for(entries, self._candidates, attributes, problem)
        answer = self._model.answer(ModelTask(prompt, SCHEMA_NAME, SCHEMA, MAX_ANSWER_TOKENS))
        self._answers.append(answer)
        if answer.refused:
            return AnswerProblem.REFUSED
        if answer.cut:
            return AnswerProblem.CUT
        return read_answer(answer.text, Asked(entries, self._candidates, attributes, prompt.restored))

    def extracted(self, turns: Iterable[Turn]) -> Extracted:
        """All that was found, and the account of it."""
        places = {turn.turn_id: place for place, turn in enumerate(turns)}
        return Extracted(
            statements=tuple(sorted(_once(self._found), key=lambda statement: places[statement.turn_id])),
            way=next(iter(self._ways)) if len(self._ways) == 1 else Way.BOTH,
            problems=dict(self._problems),
            dropped=dict(self._dropped),
            unavailable=self._unavailable,
            calls=len(self._answers),
            input_tokens=sum(answer.input_tokens for answer in self._answers),
            output_tokens=sum(answer.output_tokens for answer in self._answers),
        )


def _once(statements: Iterable[Statement]) -> Iterable[Statement]:
    """The statements without what a turn is found to state twice, as one can that stands in several batches."""
    return {(one.turn_id, one.subject, one.attribute, one.value, one.denied): one for one in statements}.values()


def _turns_of(entries: Sequence[Entry]) -> tuple[Turn, ...]:
    """The turns to learn from among the entries, each once. One that stands in several batches is read by each whole."""
    return tuple({entry.turn.turn_id: entry.turn for entry in entries if entry.number is not None}.values())
