from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.adapters.embedding_hashing import HASHING, HashingEmbedder
from keepsake.domain.sanitizing import for_embedding
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import Purpose


def vectors(*texts: str, purpose: Purpose = Purpose.PASSAGE) -> tuple[Vector, ...]:
    return HashingEmbedder().embed([for_embedding(text) for text in texts], purpose)


@given(st.lists(st.text(max_size=80), max_size=4))
def test_each_text_gets_the_vector_that_it_gets_alone(texts: list[str]) -> None:
    together = vectors(*texts)
    assert together == tuple(vectors(text)[0] for text in texts)
    assert all(vector.dimensions == HASHING.dimensions for vector in together)


def test_a_vector_is_the_same_in_every_process() -> None:
    [cat, katze] = vectors("cat", "Katze")
    assert (sum(cat.whole), sum(katze.whole)) == (54, 184)


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("Our garden has three apple trees", "How many apple trees are in the garden?", "The train to Bergen was late again"),
        ("Die Apfelbäume blühen", "Wann blüht der Apfelbaum?", "Der Zug nach Bergen hatte Verspätung"),
        ("ฉันชอบกาแฟดำ", "กาแฟแบบไหนที่ฉันชอบ", "รถไฟไปเชียงใหม่มาสาย"),
        ("東京に住んでいます", "東京に住む", "電車が遅れた"),
        ("الكتاب على الطاولة", "أين الكتاب", "القطار متأخر"),
        ("🍎🍏🍐", "🍎", "🚂"),
    ],
)
def test_texts_that_share_words_or_pieces_of_words_are_near(text: str, near: str, far: str) -> None:
    [one, other, another] = vectors(text, near, far)
    assert one.cosine(other) > 0.1 + one.cosine(another)


def test_queries_and_passages_are_the_same() -> None:
    assert vectors("apple") == vectors("apple", purpose=Purpose.QUERY)


def test_unrelated_texts_are_weak_and_the_same_text_is_strong() -> None:
    texts = ["a red bicycle", "quarterly revenue", "grandmother's recipe", "blood pressure", "chess openings"]
    assert max(one.cosine(other) for one, other in combinations(vectors(*texts), 2)) < HASHING.strong_above / 2
    assert vectors(texts[0])[0].cosine(vectors(texts[0])[0]) > HASHING.strong_above


def test_a_text_without_words_has_no_direction() -> None:
    assert not any(vectors(" .,; ")[0].values)


def test_what_is_beyond_the_limit_does_not_count() -> None:
    assert vectors("apple " * 4_000) == vectors("apple " * 4_000 + "pear " * 9_000)
