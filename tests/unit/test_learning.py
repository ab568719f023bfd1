"""What claims are made of statements that do not hang together."""

from dataclasses import replace

import pytest

from keepsake.adapters.learning_files import load_attributes
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.memories.claims import Claim, Stance
from keepsake.domain.memories.values import USER, MadeBy, MemoryType, Replaced, Statement
from keepsake.services.learning import Learning
from tests.model_answers import turn

LEARNING = Learning(load_attributes(), KeyedHash("v1", bytes(32)))
SAID = Statement(
    turn_id="t1",
    type=MemoryType.FACT,
    subject=USER,
    attribute="home",
    value="Rome",
    text="The user lives in Rome.",
    confidence=0.8,
    importance=0.6,
    made_by=MadeBy.MODEL,
)


def claimed(statement: Statement, text: str = "Rome it is.") -> list[Claim]:
    found = LEARNING.from_turns("ada", "s1", [turn(text)], [statement])
    return sorted((claim for slot in found for claim in slot.claims), key=lambda claim: claim.place)


@pytest.mark.parametrize("made_by", [MadeBy.RULES, MadeBy.MODEL])
@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [(5, 9, (5, 9)), (9, 9, (9, 9)), (9, 5, (None, 5)), (9, None, (9, None)), (None, 5, (None, 5)), (0, 5, (0, 5))],
)
def test_nothing_is_claimed_to_begin_after_its_end(
    made_by: MadeBy, since: int | None, until: int | None, expected: tuple[int | None, int | None]
) -> None:
    (claim,) = claimed(replace(SAID, made_by=made_by, valid_from_ms=since, valid_to_ms=until))
    assert (claim.valid_from_ms, claim.valid_to_ms) == expected


@pytest.mark.parametrize(
    ("replaced", "text", "made_by", "counts"),
    [
        (Replaced(USER, "home", "Oslo"), "Rome it is.", MadeBy.MODEL, True),
        (Replaced(USER, "lives in", "Oslo"), "Rome it is.", MadeBy.MODEL, True),
        (Replaced(USER, "home", None), "Rome it is.", MadeBy.MODEL, True),
        (Replaced(USER, "employer", "Acme Labs"), "Rome it is.", MadeBy.MODEL, False),
        (Replaced(USER, "employer", "Acme Labs"), "Rome it is, and no more labs.", MadeBy.MODEL, False),
        (Replaced(USER, "employer", "Acme Labs"), "Rome it is, I left ACME labs!", MadeBy.MODEL, True),
        (Replaced(USER, "employer", None), "Rome it is, I left Acme.", MadeBy.MODEL, False),
        (Replaced(USER, "sister", "🦊"), "Rome it is.", MadeBy.MODEL, False),
        (Replaced(USER, "employer", "Acme Labs"), "Rome it is.", MadeBy.RULES, True),
    ],
)
def test_a_model_ends_only_what_is_of_the_same_attribute_or_what_the_turn_names(
    replaced: Replaced, text: str, made_by: MadeBy, counts: bool
) -> None:
    first, *ended = claimed(replace(SAID, made_by=made_by, replaces=(replaced,)), text)
    assert (first.value, first.stance) == ("Rome", Stance.AFFIRMS)
    assert [claim.value for claim in ended] == ([replaced.value or ""] if counts else [])
