"""The words that say why a turn searches long-term memory, or why not. Part of the API: their meaning never changes."""

from collections.abc import Iterable, Mapping
from enum import StrEnum


class Reason(StrEnum):
    """The first group is given with a search, the second without one."""

    ASKS_ABOUT_ME = "asks_about_me"
    ASKS_OWN_PAST = "asks_own_past"
    REFERS_TO_FORMER_TALK = "refers_to_former_talk"
    ASKS_TO_BE_REMINDED = "asks_to_be_reminded"
    COMPARES_WITH_BEFORE = "compares_with_before"
    AS_BEFORE = "as_before"
    RESUMES = "resumes"
    REFERS_TO_SOMETHING_FORMER = "refers_to_something_former"
    NAMES_KNOWN_ENTITY = "names_known_entity"
    NAMES_UNKNOWN_PERSON = "names_unknown_person"
    NAMES_RECORD = "names_record"

    NOTHING_SAID = "nothing_said"
    CODE = "code"
    ABOUT_THE_CONTEXT = "about_the_context"
    GENERAL_QUESTION = "general_question"
    RHETORICAL = "rhetorical"
    NEW_TASK = "new_task"
    TELLS_TO_REMEMBER = "tells_to_remember"
    ASKS_FOR_STYLE = "asks_for_style"
    SMALL_TALK = "small_talk"
    ABOUT_WORDS = "about_words"
    STATEMENT = "statement"
    NO_PAST_ASKED = "no_past_asked"


# Which features speak for which reason. What several kinds of turns share speaks for none.
FOR: Mapping[Reason, frozenset[str]] = {
    Reason.ASKS_ABOUT_ME: frozenset({"aboutme", "aboutme_store", "aboutme_q", "ofme", "store", "store_you"}),
    Reason.ASKS_OWN_PAST: frozenset(
        {
            "q_my",
            "q_we",
            "q_kin",
            "kin_life_q",
            "our_q",
            "we_past_q",
            "you_past",
            "then_own_q",
            "my_statement",
            "i_statement",
        }
    ),
    Reason.REFERS_TO_FORMER_TALK: frozenset(
        {"tell_between", "tell_first", "tell_own_q", "tell_other_q", "tell_then", "again_q", "then_own_said", "you_past"}
    ),
    Reason.ASKS_TO_BE_REMINDED: frozenset({"recall_between", "recall", "recall_own", "lost", "lost_own"}),
    Reason.COMPARES_WITH_BEFORE: frozenset({"compare", "compare_then", "compare_q", "compare_own_q"}),
    Reason.AS_BEFORE: frozenset(
        {"same", "same_own", "same_past", "same_order", "our_said", "modelled", "modelled_q", "we_past_order", "i_past_order"}
    ),
    Reason.RESUMES: frozenset({"resume", "resume_open", "resume_own", "lets", "lets_definite", "lets_then"}),
    Reason.REFERS_TO_SOMETHING_FORMER: frozenset(
        {"reference", "reference_q", "reference_past", "reference_own", "then", "then_q"}
    ),
    Reason.NAMES_UNKNOWN_PERSON: frozenset({"given", "given_q", "unknown_name_q", "named_life", "owner_q", "titled_q"}),
    Reason.NAMES_RECORD: frozenset({"record", "record_q"}),
}
AGAINST: Mapping[Reason, frozenset[str]] = {
    Reason.CODE: frozenset({"code"}),
    Reason.ABOUT_THE_CONTEXT: frozenset(
        {"context", "anaphor_context", "joining_context", "short_context", "covered", "just_said", "covered_talk"}
    ),
    Reason.GENERAL_QUESTION: frozenset({"encyclopedic_q", "general_q", "public", "public_q", "howto", "howto_open"}),
    Reason.RHETORICAL: frozenset({"rhetoric", "rhetoric_own"}),
    Reason.NEW_TASK: frozenset({"task", "task_open", "task_plain"}),
    Reason.TELLS_TO_REMEMBER: frozenset({"keep", "keep_open"}),
    Reason.ASKS_FOR_STYLE: frozenset({"style", "style_short"}),
    Reason.SMALL_TALK: frozenset({"greet", "greet_open", "thanks", "thanks_open"}),
    Reason.ABOUT_WORDS: frozenset({"mention", "quotes"}),
    Reason.STATEMENT: frozenset({"says", "says_plain", "past_statement"}),
}


def strongest(
    seen: Iterable[str], weights: Mapping[str, float], reasons: Mapping[Reason, frozenset[str]], otherwise: Reason
) -> Reason:
    """The reason for which the features seen weigh most, whatever their sign; `otherwise`, when none of them speaks for any."""
    found = frozenset(seen)
    sums = {reason: abs(sum(weights.get(name, 0.0) for name in names & found)) for reason, names in reasons.items()}
    best = max(sums, key=lambda reason: sums[reason])
    return best if sums[best] > 0 else otherwise
