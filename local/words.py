"""Words of the messages for the person at the keyboard."""


def counted(number: int, noun: str) -> str:
    """`1 turn`, `2 turns`; for nouns that take an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
