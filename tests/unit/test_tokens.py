import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from keepsake.adapters.tokens import EstimatedTokens, VendoredTokens, VocabularyError, load_tokens, vendored_vocabulary

# Counts by the published encoding.
KNOWN = [
    ("", 0),
    ("hello world", 2),
    ("tiktoken is great!", 6),
    ("antidisestablishmentarianism", 6),
    ("2 + 2 = 4", 7),
    ("お誕生日おめでとう", 9),
]


@pytest.mark.parametrize(("text", "tokens"), KNOWN)
def test_counts_are_those_of_the_published_encoding(text: str, tokens: int) -> None:
    assert load_tokens().count(text) == tokens


def test_what_looks_like_a_control_token_is_text() -> None:
    assert VendoredTokens().count("<|endoftext|>") > 1


def test_the_vocabulary_is_exact_and_says_so() -> None:
    tokens = load_tokens()
    tokens.load()
    assert tokens.exact


def test_nothing_is_loaded_before_it_is_used(tmp_path: Path) -> None:
    VendoredTokens(tmp_path / "absent")
    load_tokens(tmp_path / "absent")


def test_many_threads_share_one_load() -> None:
    tokens = VendoredTokens()
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(tokens.count, ["hello world"] * 64)) == {2}


@pytest.mark.parametrize("content", [b"", b"aGVsbG8= 1\n", b"\xff"])
def test_a_vocabulary_that_is_not_the_known_one_is_refused(tmp_path: Path, content: bytes) -> None:
    broken = tmp_path / "vocabulary"
    broken.write_bytes(content)
    with pytest.raises(VocabularyError):
        VendoredTokens(broken).count("x")


def test_a_vocabulary_changed_in_one_byte_is_refused(tmp_path: Path) -> None:
    content = bytearray(vendored_vocabulary().read_bytes())
    content[-2] ^= 1
    changed = tmp_path / "vocabulary"
    changed.write_bytes(content)
    with pytest.raises(VocabularyError):
        VendoredTokens(changed).load()


def test_without_a_vocabulary_counts_are_estimates_and_say_so(tmp_path: Path) -> None:
    tokens = load_tokens(tmp_path / "absent")
    assert not tokens.exact
    assert tokens.count("ก็ a") == 8


def test_without_tiktoken_counts_are_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    assert not load_tokens().exact


@pytest.mark.parametrize("text", [text for text, _ in KNOWN] + ["<|endoftext|>", "🙂🙂", "\x00\x01", "ﷺ"])
def test_an_estimate_is_never_too_low(text: str) -> None:
    assert EstimatedTokens().count(text) >= VendoredTokens().count(text)


def test_text_of_one_kind_at_full_length_is_counted_without_ado() -> None:
    tokens = VendoredTokens()
    assert [tokens.count(kind * 60_000) for kind in ("a", " ", "中", "!")] == [7_500, 470, 60_000, 7_500]
