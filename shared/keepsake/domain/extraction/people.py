"""Who a text speaks of: people it has introduced by a relation, so that "she" and "Anna" can be understood later on."""

import re
from collections.abc import Mapping, Sequence

from keepsake.domain.extraction.rules import SAME, Language, group
from keepsake.domain.memories.values import USER


class People:
    """The people met so far, in the order of the reading."""

    def __init__(self, genders: Mapping[str, str]) -> None:
        self._genders = genders
        self._names: set[str] = set()
        self._by_relation: dict[str, str] = {}
        self._last: tuple[str, str] | None = None  # name and gender
        self._fresh = 0  # sentences since somebody was spoken of

    def next_sentence(self) -> None:
        """A new sentence begins."""
        self._fresh += 1

    def met(self, names: Sequence[str], relation: str) -> None:
        """Somebody was introduced as the user's `relation`."""
        for name in names:
            self._names.add(name)
            self._by_relation[relation] = name
            self._speak_of(name, self._genders.get(relation, ""))

    def subject(self, match: re.Match[str], language: Language) -> str | None:
        """Whom a match is about; None when that cannot be told."""
        if kin := group(match, "who_kin"):
            return self._relative(kin, match, language)
        if pronoun := group(match, "who_pronoun"):
            return self._meant_by(pronoun, language)
        if name := group(match, "who_bare"):
            if name in self._names:
                self._speak_of(name, self._last[1] if self._last and self._last[0] == name else "")
                return name
            return None
        return USER

    def _relative(self, kin: str, match: re.Match[str], language: Language) -> str | None:
        relation = language.kin.get(kin.lower())
        name = group(match, "who_name")
        if relation is None or (kin.lower() in language.plurals):
            return None
        if name and name.split()[0].lower() not in language.not_names:
            self.met((name,), relation)
        said = group(match, "who_my") or kin
        subject = name or self._by_relation.get(relation) or said[0].lower() + said[1:]
        self._speak_of(subject, self._genders.get(relation, ""))
        return subject

    def _meant_by(self, pronoun: str, language: Language) -> str | None:
        gender = language.pronouns[pronoun.lower()]
        if self._last is None:
            return None
        name, known = self._last
        if gender == SAME:
            return name if self._fresh == 0 else None
        if self._fresh > 1 or known not in {"", gender}:
            return None
        self._speak_of(name, known)
        return name

    def _speak_of(self, name: str, gender: str) -> None:
        self._last = (name, gender)
        self._fresh = 0
