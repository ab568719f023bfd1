import pytest

from keepsake.domain.errors import InvalidIdError
from keepsake.domain.ids import MAX_ID_CHARACTERS, checked_id


@pytest.mark.parametrize(
    "given",
    [
        "a",
        "user 1",
        "#/|=&* ",
        "a/b#c=d|e",
        "ผู้ใช้",
        "用户一号",
        "مستخدم",
        "🙂",
        "é",
        "e\u0301",
        "a" * MAX_ID_CHARACTERS,
        "漢" * MAX_ID_CHARACTERS,
    ],
)
def test_ids_of_any_script_and_punctuation_are_taken(given: str) -> None:
    assert checked_id(given, "user id") == given


@pytest.mark.parametrize(
    "given",
    [
        "",
        " ",
        "\t",
        "\u200b",
        "\u200b\ufeff",
        "\u3000",
        "a\x00b",
        "a\nb",
        "\x7f",
        "\ud800",
        "a\udfffb",
        "a" * (MAX_ID_CHARACTERS + 1),
        "🙂" * MAX_ID_CHARACTERS,
        "a" * 1000,
        "\ue000",
    ],
)
def test_ids_that_are_empty_blank_invisible_endless_or_unstorable_are_refused(given: str) -> None:
    with pytest.raises(InvalidIdError) as refused:
        checked_id(given, "user id")
    assert "user id" in refused.value.detail


def test_a_refusal_never_repeats_the_id() -> None:
    with pytest.raises(InvalidIdError) as refused:
        checked_id("secret\x00name", "user id")
    assert "secret" not in str(refused.value)
