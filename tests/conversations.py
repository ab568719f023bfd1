"""Makes conversations from what was said, turn by turn."""

from dataclasses import dataclass

from keepsake.domain.turns import Role, Turn


@dataclass(frozen=True)
class Said:
    """What somebody says."""

    text: str
    role: Role = Role.USER
    name: str | None = None


def said(*spoken: Said | str) -> list[Turn]:
    """Turns with places from 1; a plain text is the user's."""
    turns = [Said(one) if isinstance(one, str) else one for one in spoken]
    return [Turn(f"t{place}", one.role, one.text, place, place, 1, one.name) for place, one in enumerate(turns, start=1)]
