import sys
from pathlib import Path

import pytest

from keepsake.adapters.embedding_local import local_embedder

MODELS = Path(__file__).resolve().parents[2] / "local" / "models"


def test_where_the_runtime_is_the_model_embeds_and_nothing_is_said() -> None:
    pytest.importorskip("onnxruntime")
    embedder, notice = local_embedder(MODELS)
    assert (embedder.model.name, notice) == ("e5-small-v2-int8", None)


@pytest.mark.parametrize("name", ["onnxruntime", "tokenizers", "numpy"])
def test_where_the_runtime_cannot_be_imported_hashing_stands_in_and_a_line_says_so(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    embedder, notice = local_embedder(MODELS)
    assert embedder.model.name == "hashing-384"
    assert notice is not None
    assert name in notice
    assert "\n" not in notice


def test_where_the_model_is_missing_hashing_stands_in_and_a_line_says_so(tmp_path: Path) -> None:
    embedder, notice = local_embedder(tmp_path)
    assert embedder.model.name == "hashing-384"
    assert notice is not None
