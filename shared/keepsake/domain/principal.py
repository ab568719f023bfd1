"""Who calls. Taken from the token and from nowhere else."""

from dataclasses import dataclass

from keepsake.domain.clearance import OPEN, Clearance


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller: the user id that the token names, what it may see, and whether it is an admin."""

    user_id: str
    clearance: Clearance = OPEN
    is_admin: bool = False
