r"""What a text says, letter by letter: folding, lexical terms, and whether there is anything to see at all.

One analysis for every script and every index, so that they find and rank alike. All functions take any string, never raise, and
run in time linear in its length.
"""

import re
from functools import lru_cache
from itertools import pairwise
from unicodedata import normalize

# Characters that are never drawn (Unicode's default ignorables), and interlinear annotation marks.
_IGNORABLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    r"\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Accents of the alphabets and the optional vowel points of Hebrew and Arabic. Marks of other scripts spell the word and stay.
_ACCENTS = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    r"\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
)
_SKIN_TONES = r"\U0001f3fb-\U0001f3ff"
# Marks that spell: without them Hindi, Tamil or Tibetan words would fall apart.
_MARKS = (
    r"\u0711-\u074a\u07a6-\u07b0\u07eb-\u07f3\u0816-\u082d\u0859-\u085b\u0900-\u0963\u0971-\u0df3\u0f18\u0f19\u0f35\u0f37\u0f39"
    r"\u0f3e\u0f3f\u0f71-\u0f84\u0f86-\u0fbc\u135d-\u135f\u1712-\u1734\u1752-\u1773\u18a9\u1920-\u193b\u1a17-\u1a1b\u1a55-\u1a7f"
    r"\u1b00-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1cfa\u2d7f\ua66f\ua674-\ua67d\ua69e\ua69f\ua6f0"
    r"\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff\ua926-\ua92d\ua947-\ua953\ua980-\ua9c0\uaa29-\uaa4d\uaaeb-\uaaef"
    r"\uaaf5\uaaf6\uabe3-\uabea\uabec\uabed"
)
# Scripts that write no spaces: Han, Hiragana, Katakana; Thai, Lao, Myanmar, Khmer (with their marks, without their digits).
UNSPACED = (
    r"\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U000323af"
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"
    r"\u1780-\u17d3\u17d7\u17dc\u17dd"
)
_UNSPACED_MARKS = (
    r"\u3099\u309a\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060"
    r"\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\uaa7b-\uaa7d\u17b4-\u17d3\u17dd"
)
_EMOJI = r"[\U0001f1e6-\U0001f1ff]{2}|[\u2190-\u21ff\u231a-\u23ff\u25a0-\u27bf\u2b05-\u2b55\U0001f000-\U0001faff]"
_LONGEST = 64  # characters of one term; what is longer is no word, and comes in pieces

WORD = rf"[^\W_{UNSPACED}]+(?:[{_MARKS}]+[^\W_{UNSPACED}]*)*"  # one word of a script that writes spaces, of any length

_DROPPED = re.compile(f"[{_ACCENTS}{_IGNORABLE}{_SKIN_TONES}]+")
# What normalization leaves alone: letters that are one piece, and typographic punctuation.
_PLAIN = {
    "ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ŧ": "t",
    "ʼ": "'", "’": "'", "‘": "'", "ʹ": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "–": "-", "—": "-",
}  # fmt: skip
_MANY = 256  # different characters; above, one pass over all is faster than a pass for each
# Folds and parts ASCII text in one pass: letters and digits, and spaces for all else.
_ASCII_TERMS = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(128))
_TERMS = re.compile(f"{WORD}|{_EMOJI}")
_MIXED_TERMS = re.compile(f"([{UNSPACED}]+)|{WORD}|{_EMOJI}")
_HAS_UNSPACED = re.compile(f"[{UNSPACED}]")
_HAS_UNSPACED_MARK = re.compile(f"[{_UNSPACED_MARKS}]")
_CLUSTER = re.compile(f".[{_UNSPACED_MARKS}]*", re.DOTALL)
_QUESTION_MARKS = ("?", "？", "؟")
_VISIBLE = re.compile(rf"[^\s\x00-\x1f\x7f-\x9f\u2800{_IGNORABLE}]")


def folded(text: str) -> str:
    """The text under NFKC without case, accents, skin tones and invisible characters; folding twice changes nothing.

    Typographic quotes and dashes become plain ones. Kana keep their voicing marks and Indic scripts their vowels.
    """
    if text.isascii():
        return text.lower()
    plain = normalize("NFKC", text).casefold()
    different = set(plain)
    if len(different) > _MANY:
        plain = "".join(map(_folded_character, plain))
    else:
        for character in different:
            if (simple := _folded_character(character)) != character:
                plain = plain.replace(character, simple)
    return normalize("NFKC", plain)


@lru_cache(maxsize=4096)
def _folded_character(character: str) -> str:
    bare = normalize("NFKC", _DROPPED.sub("", normalize("NFKD", character)))
    return _PLAIN.get(bare, bare)


def terms(text: str) -> tuple[str, ...]:
    """The lexical terms of a text, in order and as often as they stand there.

    Words are runs of letters and digits of the folded text. Where a script writes no spaces, a run gives its bigrams (characters
    keep their marks), or its one character when it is alone. An emoji is a term; a flag is one; a joined emoji gives its parts.
    """
    if text.isascii():
        return tuple(_in_pieces(text.translate(_ASCII_TERMS).split()))
    plain = folded(text)
    if plain.isascii():
        return tuple(_in_pieces(plain.translate(_ASCII_TERMS).split()))
    if not has_unspaced(plain):
        return tuple(_in_pieces(_TERMS.findall(plain)))
    found: list[str] = []
    for match in _MIXED_TERMS.finditer(plain):
        found.extend(_bigrams(match.group()) if match.lastindex else _in_pieces([match.group()]))
    return tuple(found)


def _in_pieces(words: list[str]) -> list[str]:
    if max(map(len, words), default=0) <= _LONGEST:
        return words
    return [word[at : at + _LONGEST] for word in words for at in range(0, len(word), _LONGEST)]


def _bigrams(run: str) -> list[str]:
    characters: str | list[str] = _CLUSTER.findall(run) if _HAS_UNSPACED_MARK.search(run) else run
    if len(characters) == 1:
        return _in_pieces([run])
    return _in_pieces([left + right for left, right in pairwise(characters)])


def has_unspaced(text: str) -> bool:
    """Whether some of the text is in a script that writes no spaces between words."""
    return not text.isascii() and _HAS_UNSPACED.search(text) is not None


def is_blank(text: str) -> bool:
    """Whether a reader would see nothing: empty, white space, controls, or only characters that are never drawn."""
    return _VISIBLE.search(text) is None


def is_question(text: str) -> bool:
    """Whether the text ends with a question mark, of whatever script."""
    return text.rstrip().endswith(_QUESTION_MARKS)


def has_lone_surrogate(text: str) -> bool:
    """Whether the text holds half a surrogate pair, which no store and no encoding can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def has_nul(text: str) -> bool:
    r"""Whether the text holds U+0000."""
    return "\x00" in text
