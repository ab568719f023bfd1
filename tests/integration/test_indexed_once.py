"""What consolidation tells the index: what is new or changed, and not all that a slot ever held."""

from collections.abc import Sequence

from keepsake.adapters.embedding_hashing import HashingEmbedder
from keepsake.domain.sanitizing import SanitizedText
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import EmbeddingModel, Purpose
from tests.fakes import DictItemStore, FakeClock
from tests.world import World

HOMES = ("Oslo", "Rome", "Lima", "Cairo", "Tokyo", "Quito", "Paris", "Delhi", "Accra", "Sofia")


class NotingEmbedder:
    """An embedder that remembers what it was given."""

    def __init__(self) -> None:
        self._embedder = HashingEmbedder()
        self.texts: list[str] = []

    @property
    def model(self) -> EmbeddingModel:
        return self._embedder.model

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:
        self.texts += [text.text for text in texts]
        return self._embedder.embed(texts, purpose)


def test_what_a_user_lived_in_before_is_not_embedded_anew_with_each_move() -> None:
    embedder = NotingEmbedder()
    world = World(DictItemStore(), FakeClock(), embedder=embedder)
    counts = []
    for number, home in enumerate(HOMES):
        world.clock.advance(minutes=24 * 60)
        world.turn(f"s{number}", f"I live in {home}.")
        embedder.texts.clear()
        assert world.consolidate() == 0
        counts.append(len(embedder.texts))
    assert len(world.memories(attribute="home", past="true")) == len(HOMES)
    assert counts[-1] <= counts[1], counts
    drift = world.call("POST /v1/admin/drift", body={"user_id": "ada"}, claims={"cognito:groups": "[keepsake-admins]"}).json
    assert [count for name, count in drift.items() if "_without_" in name] == [0, 0, 0, 0]
    assert drift["documents"] == drift["pointers"]
