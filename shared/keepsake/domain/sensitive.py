"""Where a text holds what should not leave for a model: secrets, numbers of records, people's contact data. In any script.

It finds by form (checksums, prefixes) and by what stands before (a word for "password", "case number" and so on, in several
languages). Rather too much than too little: what is masked comes back. Linear in the text's length.
"""

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from enum import StrEnum

from keepsake.domain.sensitive_words import (
    BE,
    FOR,
    IBAN_LENGTHS,
    NAMES_OF_PHONES,
    NAMES_OF_RECORDS,
    NAMES_OF_SECRETS,
    PARTS_OF_RECORDS,
    PARTS_OF_SECRETS,
    STREETS,
    UNSPACED_NAMES_OF_PHONES,
    UNSPACED_NAMES_OF_RECORDS,
    UNSPACED_NAMES_OF_SECRETS,
)


class Sensitive(StrEnum):
    """Kinds, those first that name a span which several claim."""

    PRIVATE_KEY = "PRIVATE_KEY"
    API_KEY = "API_KEY"
    PASSWORD = "PASSWORD"  # noqa: S105 - a kind, not one
    CARD = "CARD"
    IBAN = "IBAN"
    SSN = "SSN"
    RECORD = "RECORD"
    EMAIL = "EMAIL"
    PHONE = "PHONE"
    ADDRESS = "ADDRESS"


SECRETS = frozenset(
    {
        Sensitive.PRIVATE_KEY,
        Sensitive.API_KEY,
        Sensitive.PASSWORD,
        Sensitive.CARD,
        Sensitive.IBAN,
        Sensitive.SSN,
        Sensitive.RECORD,
    }
)
CONTACTS = frozenset({Sensitive.EMAIL, Sensitive.PHONE, Sensitive.ADDRESS})
_ORDER = {kind: order for order, kind in enumerate(Sensitive)}


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text, from `start` up to, not including, `end`."""

    start: int
    end: int
    kind: Sensitive


def sensitive_spans(text: str, kinds: Set[Sensitive]) -> tuple[Span, ...]:
    """The stretches of those kinds, in order; what overlaps is one."""
    digits = max([len(_DIGIT.findall(run)) for run in _RUN.findall(text)], default=0)
    plain = text.lower() if text.isascii() or not _FOREIGN.search(text) else None
    found: list[Span] = []
    for finder in _FINDERS:
        if finder.kind in kinds and finder.digits <= digits and finder.may_be_in(text, plain):
            found.extend(finder.found_in(text))
    return tuple(_merged(sorted(found, key=lambda span: (span.start, _ORDER[span.kind]))))


def _merged(spans: list[Span]) -> Iterator[Span]:
    held: Span | None = None
    for span in spans:
        if held is None or span.start >= held.end:
            if held is not None:
                yield held
            held = span
        else:
            kind = min(held.kind, span.kind, key=_ORDER.__getitem__)
            held = Span(held.start, max(held.end, span.end), kind)
    if held is not None:
        yield held


# ---- what a value that looks like one must pass: the part of it that does, or nothing -----------------------------------------

Part = tuple[int, int] | None


def _whole(value: str) -> Part:
    return 0, len(value)


def _whole_if(passes: bool, value: str) -> Part:
    return (0, len(value)) if passes else None


def _card(value: str) -> Part:
    """Whole groups of digits, 13 to 19 together, as cards have them and with their check digit (ISO/IEC 7812-1)."""
    groups = [group.span() for group in _GROUP.finditer(value)]
    for first, (start, first_end) in enumerate(groups):
        for _, end in groups[first : first + _MOST_GROUPS][::-1]:
            digits = [int(character) for character in value[start:end] if character.isdecimal()]
            if (first_end in {start + 4, end}) and 13 <= len(digits) <= 19 and _luhn(digits[::-1]):
                return start, end
    return None


def _luhn(reversed_digits: list[int]) -> bool:
    doubled = sum(digit * 2 - 9 * (digit > 4) for digit in reversed_digits[1::2])
    return (sum(reversed_digits[::2]) + doubled) % 10 == 0 and any(reversed_digits)


def _iban(value: str) -> Part:
    """As many characters as the country's numbers have, with check digits (ISO 13616)."""
    places = [place for place, character in enumerate(value) if character.isalnum()][: IBAN_LENGTHS.get(value[:2].upper(), 0)]
    plain = "".join(value[place] for place in places)
    if len(plain) < IBAN_LENGTHS.get(value[:2].upper(), 99):
        return None
    number = int("".join(str(int(character, 36)) for character in plain[4:] + plain[:4]))
    return (0, places[-1] + 1) if number % 97 == 1 else None


def _token(value: str) -> Part:
    """A long run of letters of both cases and digits: no word, and no hexadecimal number."""
    return _whole_if(any(map(str.isdigit, value)) and any(map(str.isupper, value)) and any(map(str.islower, value)), value)


def _phone(value: str) -> Part:
    fewest = 7 if value.startswith("+") else 9
    return _whole_if(fewest <= len(_DIGIT.findall(value)) <= 15 and _DATE.search(value) is None, value)


def _named_phone(value: str) -> Part:
    return _whole_if(6 <= len(_DIGIT.findall(value)) <= 15 and _DATE.search(value) is None, value)


def _record(value: str) -> Part:
    return _whole_if(len(_DIGIT.findall(value)) >= 3, value)


_MOST_GROUPS = 5
_GROUP = re.compile(r"\d+")
_DIGIT = re.compile(r"\d")
_RUN = re.compile(r"\d(?:[ -]?\d)*")
_FOREIGN = re.compile(r"[^\x00-\x7f…‘’“”–—]")
_DATE = re.compile(r"(?<!\d)(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})(?!\d)")

_NUMBER = r"(?P<value>[A-Z]{0,6}[-/ ]?\d(?:[\w./-]{0,30}\w)?)"


@dataclass(frozen=True, slots=True)
class _Finder:
    """How one kind is found: a pattern with a group `value`, and what of that counts. `mark` stands in every such text.

    `digits` is how many stand there at least in a row, but for single spaces and hyphens between them. Of a text whose letters
    are ASCII, one of `words` stands in it in lower case; where there are none, no such text has any.
    """

    kind: Sensitive
    pattern: re.Pattern[str]
    part: Callable[[str], Part] = _whole
    digits: int = 0
    mark: str = ""
    words: tuple[str, ...] = ("",)

    def may_be_in(self, text: str, plain: str | None) -> bool:
        """Whether it may stand in a text: seen far sooner than a pattern is searched for. `plain` is in lower case, and nothing
        where letters are not ASCII.
        """
        return self.mark in text and (plain is None or any(word in plain for word in self.words))

    def found_in(self, text: str) -> Iterator[Span]:
        """All that is found in a text; what follows a part that counts is looked at again."""
        match = self.pattern.search(text)
        while match:
            begin, end = match.span("value")
            if part := self.part(match["value"]):
                yield Span(begin + part[0], begin + part[1], self.kind)
                end = begin + part[1]
            match = self.pattern.search(text, end)


def _named(words: str, value: str) -> re.Pattern[str]:
    """What follows one of the words: after a sign of equality, or a form of "to be", with what it is for in between."""
    return re.compile(
        rf"{words}(?:[^\S\n]*[:：=#]|(?:[^\S\n]+{FOR}(?:[^\S\n]+[^\s:=]{{1,24}}){{1,4}}?)?[^\S\n]+{BE}|[^\S\n]*[:：=是は])[^\S\n]*:?{value}",
        re.IGNORECASE,
    )


_SPACED_PASSWORDS = rf"(?<!\w)(?:{NAMES_OF_SECRETS})(?!\w)"
_QUOTED_OR_ONE = r"[^\S\n]*(?P<value>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|“[^”\n]{1,200}”|[^\s\"“”「」，。、！？；]{1,200})"

_FINDERS = (
    _Finder(
        Sensitive.PRIVATE_KEY,
        re.compile(
            r"(?P<value>-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?!-----)[\s\S]){0,20000}(?:-----END [A-Z0-9 ]{1,50}-----)?)"
        ),
        mark="-----BEGIN ",
    ),
    _Finder(
        Sensitive.API_KEY,
        re.compile(
            r"(?<![A-Za-z0-9])(?P<value>(?:sk|pk|rk)[-_](?:[A-Za-z0-9]{2,12}[-_]){0,3}[A-Za-z0-9_-]{16,250}"
            r"|(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{20,250}|github_pat_\w{20,250}|glpat-[\w-]{16,250}"
            r"|xox[abeprs]-[\w-]{10,250}|AIza[\w-]{30,60}|(?:hf|npm|dop_v1|shpat|lin_api)_\w{20,250}|pypi-[\w-]{20,250}"
            r"|SG\.[\w-]{16,64}\.[\w-]{16,64}|eyJ[\w-]{8,4000}\.[\w-]{4,4000}(?:\.[\w-]{0,4000})?)"
        ),
        digits=1,
    ),
    _Finder(Sensitive.API_KEY, re.compile(r"://(?P<value>[^\s/:@]{1,100}:[^\s/@]{1,200})@"), mark="://"),
    _Finder(
        Sensitive.API_KEY,
        re.compile(r"(?<![A-Za-z0-9])bearer\s+(?P<value>[\w.~+/=-]{12,4000})", re.IGNORECASE),
        words=("bearer",),
    ),
    _Finder(Sensitive.API_KEY, re.compile(r"(?<![\w+=-])(?P<value>[A-Za-z0-9_+=-]{32,512})"), _token, digits=1),
    _Finder(Sensitive.PASSWORD, _named(_SPACED_PASSWORDS, _QUOTED_OR_ONE), words=PARTS_OF_SECRETS),
    _Finder(
        Sensitive.PASSWORD,
        re.compile(rf"{_SPACED_PASSWORDS}[^\S\n]{{1,3}}(?P<value>(?=\S{{0,60}}\d)\S{{4,200}})", re.IGNORECASE),
        digits=1,
        words=PARTS_OF_SECRETS,
    ),
    _Finder(
        Sensitive.PASSWORD,
        re.compile(
            rf"(?:{UNSPACED_NAMES_OF_SECRETS})[^\n，。、！？]{{0,8}}?(?:[:：=]|是|为|為|は|은|는|이|คือ|เป็น)\s*"
            r"(?P<value>[^\s「」，。、！？；]{1,200})"
        ),
        words=(),
    ),
    _Finder(Sensitive.CARD, re.compile(r"(?<![\d+-])(?P<value>\d(?:[ -]?\d){12,48})(?!\d)"), _card, digits=13),
    _Finder(
        Sensitive.IBAN,
        re.compile(r"(?<![A-Za-z0-9])(?P<value>[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,30})(?![A-Z0-9])", re.IGNORECASE),
        _iban,
        digits=1,
    ),
    _Finder(
        Sensitive.SSN,
        re.compile(r"(?<![\d-])(?P<value>(?!000|666|9)\d{3}([- ])(?!00)\d{2}\2(?!0000)\d{4})(?![\d-])"),
        digits=9,
    ),
    _Finder(
        Sensitive.RECORD,
        re.compile(
            rf"(?<!\w)(?:{NAMES_OF_RECORDS})(?!\w)[^\S\n]{{0,3}}(?:[:：=#]|{BE}|numbers?|no\.|nr\.)?[^\S\n]{{0,3}}#?{_NUMBER}",
            re.IGNORECASE,
        ),
        _record,
        digits=1,
        words=PARTS_OF_RECORDS,
    ),
    _Finder(
        Sensitive.RECORD,
        re.compile(
            rf"(?:{UNSPACED_NAMES_OF_RECORDS})\s{{0,3}}(?:[:：=]|是|为|は|은|는|이|คือ)?\s{{0,3}}"
            r"(?P<value>[A-Za-z]{0,6}[-/ ]?\d[A-Za-z0-9./-]{0,30})"
        ),
        _record,
        digits=1,
        words=("hn",),
    ),
    _Finder(
        Sensitive.EMAIL,
        re.compile(r"(?<![\w.+%-])(?P<value>[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})"),
        mark="@",
    ),
    _Finder(Sensitive.PHONE, re.compile(r"(?<![\w.+-])(?P<value>\+\d[\d ()./-]{5,20}\d)(?!\w)"), _phone, digits=1),
    _Finder(Sensitive.PHONE, re.compile(r"(?<![\w.+-])(?P<value>(?:0|\(\d)[\d ()./-]{7,20}\d)(?!\w)"), _phone, digits=1),
    _Finder(Sensitive.PHONE, re.compile(r"(?<![\w.+-])(?P<value>\d{3}[-. ]\d{3}[-. ]\d{4})(?!\w)"), digits=1),
    _Finder(
        Sensitive.PHONE,
        re.compile(
            rf"(?:(?<!\w)(?:{NAMES_OF_PHONES})(?!\w)|{UNSPACED_NAMES_OF_PHONES})[^\d\n]{{0,20}}"
            r"(?P<value>\+?\d[\d ()./-]{4,20}\d)(?!\d)",
            re.IGNORECASE,
        ),
        _named_phone,
        digits=1,
    ),
    _Finder(
        Sensitive.ADDRESS,
        re.compile(rf"(?<![\w.,-])(?P<value>\d{{1,5}}[A-Za-z]? (?:[A-Z][\w'.-]{{1,24}} ){{1,3}}(?i:{STREETS})(?!\w))"),
        digits=1,
    ),
    _Finder(
        Sensitive.ADDRESS,
        re.compile(
            r"(?<!\w)(?P<value>[A-ZÄÖÜ][\w-]{1,40}(?:straße|strasse|str\.|weg|platz|gasse|allee|straat|laan) \d{1,4}[a-z]?)(?!\w)"
        ),
        digits=1,
    ),
    _Finder(
        Sensitive.ADDRESS,
        re.compile(
            r"(?<!\w)(?P<value>(?:\d{1,4},? )?(?:rue|avenue|calle|avenida|plaza|via|piazza|viale|rua|praça|улица|ул\.|проспект) "
            r"(?:[\w'’.-]{1,24} ){0,4}?[\w'’.-]{1,24},? \d{1,4})(?!\w)",
            re.IGNORECASE,
        ),
        digits=1,
    ),
)
