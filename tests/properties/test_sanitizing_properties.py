"""Whatever a prompt holds: what was masked comes back, and no secret is left in it."""

import re

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from keepsake.domain.sanitizing import for_embedding, for_extraction
from keepsake.domain.sensitive_words import NAMES_OF_RECORDS, NAMES_OF_SECRETS, PARTS_OF_RECORDS, PARTS_OF_SECRETS

ALPHABET = "abc XYZ0123456789 .,:;@+-/()[]_\n\"'éß漢字ไทยعر😀"
LOOKALIKES = (
    "[EMAIL_1]",
    "[CARD_1]",
    "[PHONE_2]",
    "[",
    "]",
    "_1]",
    "[EMAIL_",
    "password is ",
    "case ",
    "a@b.co",
    "+47 22 12 34 56",
)
words = st.text(max_size=12) | st.text(ALPHABET, max_size=30) | st.sampled_from(LOOKALIKES)
texts = st.lists(words, max_size=8).map("".join)


def luhn_digit(digits: str) -> str:
    total = sum(sum(divmod(int(digit) * 2, 10)) if at % 2 == 0 else int(digit) for at, digit in enumerate(reversed(digits)))
    return str(-total % 10)


def card(digits: str) -> str:
    whole = digits + luhn_digit(digits)
    return " ".join(whole[at : at + 4] for at in range(0, 16, 4))


def iban(account: str) -> str:
    number = int("".join(str(int(character, 36)) for character in f"{account}DE00"))
    return f"DE{98 - number % 97:02d}{account}"


secrets = (
    st.from_regex(r"[1-9][0-9]{14}", fullmatch=True).map(card)
    | st.from_regex(r"[0-9]{18}", fullmatch=True).map(iban)
    | st.from_regex(r"ghp_[A-Za-z0-9]{36}", fullmatch=True)
    | st.from_regex(r"AKIA[A-Z0-9]{15}[0-9]", fullmatch=True)
    | st.from_regex(r"[0-8][1-9][1-57-9]-[1-9]{2}-[1-9]{4}", fullmatch=True)
)
plain = st.text(st.characters(codec="utf-8", exclude_categories=["Nd", "Nl", "No", "Lu", "Ll", "Pd", "Pc", "Cs"]), max_size=40)


@given(st.lists(texts, min_size=1, max_size=4))
def test_what_is_masked_comes_back(parts: list[str]) -> None:
    prompt = for_extraction("", *parts)
    assert prompt.restored(prompt.data) == "\n".join(parts)


@given(plain, secrets, plain)
def test_no_secret_is_left(before: str, secret: str, after: str) -> None:
    text = f"{before} {secret} {after}"
    assert secret not in for_embedding(text).text
    prompt = for_extraction("", text)
    assert secret not in prompt.data
    assert prompt.restored(prompt.data) == text


def alternatives(names: str) -> list[str]:
    """The names, each by itself: what a bar tells apart that stands in no parentheses."""
    depth, found = 0, [""]
    for character in names:
        depth += (character == "(") - (character == ")")
        if character == "|" and not depth:
            found.append("")
        else:
            found[-1] += character
    return found


PARTS: list[tuple[str, tuple[str, ...]]] = [(NAMES_OF_SECRETS, PARTS_OF_SECRETS), (NAMES_OF_RECORDS, PARTS_OF_RECORDS)]
NAMED = [(name, parts) for names, parts in PARTS for name in alternatives(names)]


@pytest.mark.parametrize(("name", "parts"), NAMED)
@given(data=st.data())
@settings(max_examples=5, phases=[Phase.generate])
def test_what_names_a_secret_in_ascii_has_one_of_the_parts(name: str, parts: tuple[str, ...], data: st.DataObject) -> None:
    text = data.draw(st.from_regex(re.compile(name, re.IGNORECASE), fullmatch=True))
    plain = text.replace("\u0131", "I").replace("\u0130", "i").replace("\u017f", "s").replace("\u212a", "k")
    assert not plain.isascii() or any(part in plain.lower() for part in parts)
