"""What the gate weighs: features of a sentence that mean the same in every language."""

from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.domain.recall_intent.cues import UNSPACED_LANGUAGES, plain
from keepsake.domain.recall_intent.reading import LATIN_LANGUAGES, MAX_READ, Sentence

_OPENING = 2  # words within which a sentence shows what it is
_OPENING_CHARACTERS = 6
_BEGINNING_CHARACTERS = 2
_VERY_SHORT = 3
_SHORT = 5
_BRIEF = 8
_LONG = 25
_COVERED = 0.5  # of the words that carry content
_LOOK_BACK = 6
_CONTENT = 4  # letters of a word that carries content
_ASKING = frozenset({"what", "when", "which", "where"})

_ASKING_ANYWHERE = UNSPACED_LANGUAGES | {"hi"}  # languages whose questions keep the order of statements

_ORDERING = ("order", "task")
_WISHING = ("resume", "lets", "inform", "keep", "howto", "recall")

Values = dict[str, bool]


@dataclass(frozen=True, slots=True)
class _View:
    """A sentence in its turn, with what several features build on."""

    sentence: Sentence
    earlier: Sequence[str]
    code: bool

    def has(self, kind: str) -> bool:
        return kind in self.sentence.found

    def opens(self, kind: str) -> bool:
        opening = _OPENING_CHARACTERS if self.sentence.language in UNSPACED_LANGUAGES else _OPENING
        return self.sentence.found.get(kind, opening) < opening

    def any(self, *kinds: str) -> bool:
        return any(map(self.sentence.found.__contains__, kinds))

    def kin(self, *, own: bool) -> bool:
        """Whether it speaks of what belongs to a life, and, where there are articles, of a certain one and no kind of it."""
        return self.has("kin") and (
            own or self.sentence.named or self.has("definite") or self.sentence.language not in LATIN_LANGUAGES
        )

    @property
    def told(self) -> bool:
        """Whether it begins with its subject, as statements do and orders do not."""
        return self.sentence.found.get("subject", 1) < 1 and not self.sentence.asks

    @property
    def own_object(self) -> bool:
        """Whether an order is about what belongs to the speaker: its verb, and at once a possessive."""
        return self._object("my", "our")

    @property
    def definite_object(self) -> bool:
        """Whether an order is about a definite thing that nobody has named before."""
        return not self.earlier and not self.opens("keep") and self._object("definite")

    def _object(self, *kinds: str) -> bool:
        verb = min(self.sentence.found.get(kind, _OPENING) for kind in _ORDERING)
        first = min(self.sentence.found.get(kind, len(self.sentence.tokens)) for kind in kinds)
        return verb < _OPENING and verb < first <= verb + _OPENING and not self.sentence.asks

    @property
    def ordered(self) -> bool:
        """Whether it begins as orders and wishes do; where verbs stand last, whether it has such a verb."""
        if self.sentence.language in _ASKING_ANYWHERE:
            return self.any(*_ORDERING, *_WISHING)
        return any(map(self.opens, _ORDERING)) or any(map(self.opens, _WISHING)) or self.has("please")

    @property
    def yesno(self) -> bool:
        told_to = any(map(self.opens, ("keep", "task", "thanks", "greet")))
        return self.sentence.found.get("yesno", 1) < 1 and (self.sentence.asks or not told_to)


def features(sentence: Sentence, earlier: Sequence[str], *, code: bool) -> tuple[str, ...]:
    """The names of the features that the sentence has. `code`: the turn holds code beside it."""
    return tuple(name for group in _groups(_View(sentence, earlier, code)) for name, value in group.items() if value)


def _groups(view: _View) -> tuple[Values, ...]:
    asking_word = view.has("interrogative") if view.sentence.language in _ASKING_ANYWHERE else view.opens("interrogative")
    question = view.sentence.asks or view.has("ask") or asking_word or view.yesno
    own = view.any("i", "my", "we", "me")
    return (
        _asked(view, question),
        _of_the_speaker(view, question, own),
        _of_talk(view, question, own),
        _of_memory(view, question, own),
        _of_the_past(view, question, own),
        _of_former_work(view, question, own),
        _of_the_world(view, question, own),
        _of_somebody(view, question),
        _of_no_past(view),
        _in_context(view),
    )


def _asked(view: _View, question: bool) -> Values:
    wh_open = view.opens("interrogative")
    return {
        "question": question,
        "wh_open": wh_open,
        "yesno_open": view.yesno,
        "unasked": view.yesno and not view.sentence.asks,
        "inform": view.has("inform"),
        "now": view.has("now"),
        "now_q": view.has("now") and question,
    }


def _of_the_speaker(view: _View, question: bool, own: bool) -> Values:
    i, my, we, our = view.has("i"), view.has("my"), view.has("we"), view.has("our")
    says = _says(view, question)
    apart = view.any("howto", "rhetoric", "mention") or view.opens("task") or view.opens("keep")
    return {
        "own_fact": question and (i or my or we) and not apart,
        "q_my": question and my,
        "q_i": question and i,
        "q_we": question and we,
        "q_kin": question and view.kin(own=own),
        "kin_life_q": question and view.kin(own=own) and view.has("life"),
        "i_statement": i and not question,
        "my_statement": my and not question,
        "our_q": our and question,
        "our_said": our and not question,
        "we_past_q": question and we and view.has("past"),
        "we_past_order": not question and not says and we and view.has("past"),
        "i_past_order": not question and not says and i and view.has("past"),
        "you_past": view.has("you") and view.has("past") and own,
        "own_object": view.own_object,
        "ordered": view.ordered and not question,
        "statement": not question and not view.ordered and (i or my or we or view.any("past", "subject")),
        "says": says,
        "says_plain": says and not view.any("lost", "recall", "tell", "resume", "lets", "howto", "reference", "inform"),
    }


def _says(view: _View, question: bool) -> bool:
    """Whether the sentence begins as people begin who tell something of themselves."""
    beginning = _BEGINNING_CHARACTERS if view.sentence.language in UNSPACED_LANGUAGES else 0
    begins = min(view.sentence.found.get(kind, beginning + 1) for kind in ("i", "my", "we")) <= beginning
    return begins and not question and not view.opens("lets")


def _of_talk(view: _View, question: bool, own: bool) -> Values:
    tell = view.has("tell")
    return {
        "tell_between": tell and own and view.has("you"),
        "tell_first": tell and view.any("i", "we", "my"),
        "tell_own_q": tell and question and own,
        "tell_other_q": tell and question and not own,
        "tell_then": tell and view.has("then"),
        "again_q": view.has("again") and question,
        "again_order": view.has("again") and not question and not view.told and not view.earlier,
    }


def _of_memory(view: _View, question: bool, own: bool) -> Values:
    recall, lost, aboutme, store, you = map(view.has, ("recall", "lost", "aboutme", "store", "you"))
    return {
        "recall_between": recall and you,
        "recall": recall,
        "recall_own": recall and own,
        "lost": lost,
        "lost_own": lost and own,
        "aboutme": aboutme,
        "aboutme_store": aboutme and store,
        "aboutme_q": aboutme and question,
        "aboutme_order": aboutme and not question and view.ordered,
        "ofme": view.has("ofme") and (store or you),
        "store": store,
        "store_you": store and you,
    }


def _of_the_past(view: _View, question: bool, own: bool) -> Values:
    then, past, reference = view.has("then"), view.has("past"), view.has("reference")
    return {
        "then": then,
        "then_own_q": then and own and question,
        "then_own_said": then and own and not question,
        "then_q": then and question,
        "then_order": then and not question and view.ordered,
        "past_q": past and question,
        "past_statement": past and not question,
        "reference": reference,
        "reference_q": reference and question,
        "reference_past": reference and (past or then),
        "reference_own": reference and own,
        "definite_object": view.definite_object,
        **_relative(view, question),
    }


def _relative(view: _View, question: bool) -> Values:
    relative = view.has("relative") and not view.has("conjoined") and not view.opens("keep")
    return {
        "relative_q": relative and question,
        "relative_order": relative and not question and not view.told,
        "relative_said": relative and not question and view.told,
    }


def _of_former_work(view: _View, question: bool, own: bool) -> Values:
    says = _says(view, question)
    same, resume, compare, then = map(view.has, ("same", "resume", "compare", "then"))
    return {
        "same": same,
        "same_own": same and own,
        "same_past": same and (then or view.has("past")),
        "same_order": same and not question,
        "same_said": same and says,
        "modelled": view.has("modelled") and not question and not says and not view.told,
        "modelled_q": view.has("modelled") and question,
        "resume": resume,
        "resume_open": view.opens("resume"),
        "resume_own": resume and own,
        "lets": view.has("lets"),
        "lets_definite": view.has("lets") and not question and not view.has("fresh"),
        "lets_then": view.has("lets") and then,
        "compare": compare,
        "compare_then": compare and then,
        "compare_q": compare and question,
        "compare_own_q": compare and own and question,
    }


def _of_the_world(view: _View, question: bool, own: bool) -> Values:
    sentence, encyclopedic = view.sentence, view.has("encyclopedic")
    about_somebody = sentence.named or sentence.record or view.has("title")
    of_the_past = own or view.any("tell", "recall", "lost", "same", "resume")
    return {
        "encyclopedic_q": encyclopedic and question,
        "general_q": encyclopedic and question and not own,
        **_definite(view, question),
        "impersonal": question and not of_the_past and not about_somebody,
        "bare_question": question and not own and not about_somebody and not view.any("then", "tell"),
        "howto": view.has("howto"),
        "howto_open": view.opens("howto"),
        "public": sentence.public,
        "public_q": sentence.public and question and not sentence.named,
    }


def _definite(view: _View, question: bool) -> Values:
    """Questions about one thing that is neither known to everybody nor named before."""
    unknown = question and not view.earlier and not view.sentence.public and not view.any("encyclopedic", "rhetoric", "mention")
    return {
        "definite_yesno_q": unknown and view.yesno and view.sentence.found.get("definite", _BRIEF) <= _OPENING,
        "definite_past_q": unknown and view.opens("interrogative") and view.has("past") and view.has("definite"),
    }


def _of_somebody(view: _View, question: bool) -> Values:
    sentence, life = view.sentence, view.has("life")
    return {
        "life_q": life and question,
        "update_q": view.has("update") and question,
        "given": sentence.given,
        "given_q": sentence.given and question,
        "unknown_name_q": sentence.named and not sentence.given and question,
        "named_life": sentence.named and life and question,
        "titled_q": view.has("title") and sentence.named and question,
        "owner_q": sentence.owner and question,
        "record": sentence.record,
        "record_q": sentence.record and question,
    }


def _of_no_past(view: _View) -> Values:
    opens_task = view.opens("task")
    return {
        "task": view.has("task"),
        "task_open": opens_task,
        "task_plain": opens_task and not view.any("same", "then", "tell", "our"),
        "keep": view.has("keep"),
        "keep_open": view.opens("keep"),
        "keep_said": view.opens("keep") and not view.sentence.asks,
        "style": view.has("style"),
        "style_short": view.has("style") and view.sentence.size <= _BRIEF,
        "thanks": view.has("thanks"),
        "thanks_open": view.opens("thanks"),
        "greet": view.has("greet") and not (view.ordered and view.sentence.language in LATIN_LANGUAGES),
        "greet_open": view.opens("greet"),
        "rhetoric": view.has("rhetoric"),
        "rhetoric_own": view.has("rhetoric") and view.any("i", "my", "we"),
        "sweeping_q": view.has("sweeping") and not view.any("tell", "lost", "recall"),
        "mention": view.has("mention"),
        "quotes": view.sentence.quotes,
        "code": view.code,
        "short": view.sentence.size <= _VERY_SHORT,
        "long": view.sentence.size > _LONG,
    }


def _in_context(view: _View) -> Values:
    context, own = bool(view.earlier), view.any("i", "my", "we", "me")
    covered = context and _covered(view.sentence, view.earlier)
    return {
        "context": context,
        "anaphor_context": context and view.has("anaphor"),
        "joining_context": context and view.opens("joining"),
        "short_context": context and view.sentence.size <= _SHORT,
        "just_said": context and view.has("just"),
        "again_context": context and view.any("again", "same", "resume") and not own,
        "question_context": context and not own and not view.any("then", "tell") and not view.sentence.named,
        "covered": covered,
        "covered_talk": covered and view.has("tell") and not view.has("then"),
        "talk_context": context and view.has("tell") and not view.has("then"),
    }


def _covered(sentence: Sentence, earlier: Sequence[str]) -> bool:
    """Whether most of what the sentence is about stands in the turns before it."""
    before = plain(" ".join(turn[:MAX_READ] for turn in earlier[-_LOOK_BACK:]))
    if sentence.language in UNSPACED_LANGUAGES:
        pieces = [sentence.text[at : at + 2] for at in range(len(sentence.text) - 1)]
    else:
        pieces = [token for token in sentence.tokens if len(token) >= _CONTENT and token not in _ASKING]
    return bool(pieces) and sum(piece in before for piece in pieces) >= _COVERED * len(pieces)


_EMPTY = Sentence(
    "en", "", (), {}, 0, asks=False, quotes=False, named=False, given=False, owner=False, public=False, record=False
)
FEATURES: tuple[str, ...] = tuple(name for group in _groups(_View(_EMPTY, (), code=False)) for name in group)
