"""What an id that a caller chose may look like. Any script, any punctuation; never empty, blank, endless or invisible."""

import unicodedata

from keepsake.domain.errors import InvalidIdError

MAX_ID_CHARACTERS = 256
# Escaping at most triples a byte, and a DynamoDB sort key holds 1,024 bytes beside our own prefix.
MAX_ID_BYTES = 768

# Control characters, lone surrogates, private use and unassigned code points.
_REFUSED = frozenset({"Cc", "Cs", "Co", "Cn"})
_INVISIBLE = frozenset({"Cf", "Mn", "Me", "Zs", "Zl", "Zp"})


def checked_id(value: str, what: str) -> str:
    """`value` itself, or InvalidIdError. `what` names the kind of id in the message; the value never stands there."""
    if not value or len(value) > MAX_ID_CHARACTERS:
        raise InvalidIdError(f"the {what} has 1 to {MAX_ID_CHARACTERS} characters")
    if value.isascii() and value.isprintable() and not value.isspace():
        return value
    categories = [unicodedata.category(character) for character in value]
    if any(category in _REFUSED for category in categories):
        raise InvalidIdError(f"the {what} holds no control characters, surrogates or unassigned code points")
    if all(category in _INVISIBLE for category in categories):
        raise InvalidIdError(f"the {what} is blank")
    if len(value.encode()) > MAX_ID_BYTES:
        raise InvalidIdError(f"the {what} has at most {MAX_ID_BYTES} bytes of UTF-8")
    return value
