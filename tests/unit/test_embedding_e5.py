from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree

import pytest

from keepsake.adapters.embedding_e5 import E5_FOLDER, E5Embedder, ModelFilesError
from keepsake.domain.sanitizing import for_embedding
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import Purpose

MODELS = Path(__file__).resolve().parents[2] / "local" / "models"
onnxruntime = pytest.importorskip("onnxruntime", reason="the local embedding model has no runtime here")
tokenizers = pytest.importorskip("tokenizers", reason="the local embedding model has no tokenizer here")

ROBIN = "We named the puppy Robin after a long argument."


@pytest.fixture(scope="module")
def e5() -> E5Embedder:
    return E5Embedder(MODELS / E5_FOLDER)


def vector(e5: E5Embedder, text: str, purpose: Purpose = Purpose.PASSAGE) -> Vector:
    return e5.embed([for_embedding(text)], purpose)[0]


def test_a_text_is_nearer_to_what_it_asks_for_than_to_anything_else(e5: E5Embedder) -> None:
    question = vector(e5, "What is the dog called?", Purpose.QUERY)
    assert question.cosine(vector(e5, ROBIN)) > 0.02 + question.cosine(vector(e5, "The train to Bergen was late again."))


def test_vectors_have_the_dimensions_of_the_model(e5: E5Embedder) -> None:
    assert vector(e5, ROBIN).dimensions == e5.model.dimensions == 384


def test_the_same_text_gives_the_same_vector_every_time_and_by_any_number_of_threads(e5: E5Embedder) -> None:
    again = E5Embedder(MODELS / E5_FOLDER, threads=2)
    assert vector(e5, ROBIN) == vector(e5, ROBIN) == vector(again, ROBIN)


def test_a_text_gets_the_vector_that_it_gets_alone_whatever_stands_beside_it(e5: E5Embedder) -> None:
    texts = [for_embedding(text) for text in (ROBIN, "", "!", "long " * 400, "สวัสดี", ROBIN)]
    assert e5.embed(texts, Purpose.PASSAGE) == tuple(e5.embed([text], Purpose.PASSAGE)[0] for text in texts)


def test_a_query_and_a_passage_of_the_same_words_differ_by_their_prefixes(e5: E5Embedder) -> None:
    assert vector(e5, ROBIN, Purpose.QUERY) != vector(e5, ROBIN, Purpose.PASSAGE)


@pytest.mark.parametrize(("purpose", "prefix"), [(Purpose.QUERY, "query: "), (Purpose.PASSAGE, "passage: ")])
def test_a_vector_is_the_mean_of_the_states_of_the_prefixed_text(e5: E5Embedder, purpose: Purpose, prefix: str) -> None:
    tokenizer = tokenizers.Tokenizer.from_file(str(MODELS / E5_FOLDER / "e5-small-v2-q-tokenizer.json"))
    session = onnxruntime.InferenceSession(MODELS / E5_FOLDER / "e5-small-v2-q.onnx", providers=["CPUExecutionProvider"])
    ids = [tokenizer.encode(prefix + ROBIN).ids]
    [states] = session.run(None, {"input_ids": ids, "attention_mask": [[1] * len(ids[0])], "token_type_ids": [[0] * len(ids[0])]})
    expected = Vector.of(states[0].mean(axis=0).tolist())
    assert vector(e5, ROBIN, purpose).cosine(expected) > 0.9999
    assert vector(e5, prefix + ROBIN, purpose).cosine(expected) < 0.9999


def test_what_does_not_fit_into_the_model_is_cut_from_the_end(e5: E5Embedder) -> None:
    beginning = "apple " * 600
    assert vector(e5, beginning) == vector(e5, beginning + "elephant " * 9_000)
    assert vector(e5, "apple " * 400) != vector(e5, "apple " * 400 + "elephant " * 100)


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "สวัสดีครับ", "👩‍👩‍👧‍👦🇳🇴", "مرحبا", "x" * 60_000, "漢字" * 30_000, "[CLS] [SEP] [MASK]"]
)
def test_any_text_gets_a_vector(e5: E5Embedder, text: str) -> None:
    assert any(vector(e5, text).values)


def test_no_text_is_no_call() -> None:
    assert E5Embedder(Path("absent")).embed([], Purpose.QUERY) == ()


def test_nothing_is_loaded_before_it_is_used(tmp_path: Path) -> None:
    absent = E5Embedder(tmp_path)
    with pytest.raises(ModelFilesError):
        absent.load()


@pytest.mark.parametrize("name", ["e5-small-v2-q.onnx", "e5-small-v2-q-tokenizer.json"])
def test_a_file_changed_in_one_byte_is_refused(tmp_path: Path, name: str) -> None:
    changed = copytree(MODELS / E5_FOLDER, tmp_path / "model") / name
    content = bytearray(changed.read_bytes())
    content[-2] ^= 1
    changed.write_bytes(content)
    with pytest.raises(ModelFilesError):
        E5Embedder(tmp_path / "model").load()


def test_many_threads_share_one_model() -> None:
    shared = E5Embedder(MODELS / E5_FOLDER)
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: vector(shared, ROBIN), range(32)))) == 1
