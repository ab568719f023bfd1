"""How a document of the index says where its truth stands: which item of its owner, and what within it."""

from dataclasses import dataclass

from keepsake.domain.memories.histories import value_of
from keepsake.domain.search import DocumentKind
from keepsake.repositories.keys import MEMORY_PREFIX

_LETTERS = {DocumentKind.TURN: "t", DocumentKind.SUMMARY: "s", DocumentKind.MEMORY: "m", DocumentKind.DOCUMENT: "d"}
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}


@dataclass(frozen=True, slots=True)
class TruthRef:
    """`sort` is the item's sort key; `part` the place of a turn, the id of a memory, the number of a passage, or empty."""

    kind: DocumentKind
    sort: str
    part: str = ""

    def __str__(self) -> str:
        """As documents and pointers hold it."""
        return f"{_LETTERS[self.kind]}|{self.part}|{self.sort}"

    @classmethod
    def parse(cls, ref: str) -> "TruthRef":
        """What `str` was given. Raises ValueError for anything else."""
        letter, part, sort = ref.split("|", 2)
        if letter not in _KINDS or not sort:
            raise ValueError("this is no reference to an item")
        return cls(_KINDS[letter], sort, part)


def memory_ref(memory_id: str) -> TruthRef:
    """Where a memory's truth stands: in its slot."""
    return TruthRef(DocumentKind.MEMORY, MEMORY_PREFIX + value_of(memory_id)[0], memory_id)
