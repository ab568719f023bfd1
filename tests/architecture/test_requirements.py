"""Every requirement is pinned with hashes, and no file says where packages come from: that is the machine's business."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PINNED = sorted([*(ROOT / "requirements").glob("*.txt"), ROOT / "shared" / "requirements.txt"])
WISHES = sorted((ROOT / "requirements").glob("*.in"))

_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;]+)(\s*;[^\\]*)?((?:\s+--hash=sha256:[0-9a-f]{64})+)\s*")
_ADDRESS = re.compile(r"https?:|index-url|find-links|trusted-host|\bgit\+|\s@\s", re.IGNORECASE)


def lines(text: str) -> list[str]:
    return text.replace("\\\n", " ").splitlines()


def faults(text: str) -> Iterator[str]:
    for line in lines(text):
        if line.strip() and not line.lstrip().startswith("#") and not _PIN.fullmatch(line):
            yield f"not a pin with hashes: {line[:60]}"
    yield from addresses(text)


def addresses(text: str) -> Iterator[str]:
    yield from (f"an address: {line}" for line in text.splitlines() if _ADDRESS.search(line))


def pins(path: Path) -> dict[str, str]:
    return {match[1]: match[2] for line in lines(path.read_text()) if (match := _PIN.fullmatch(line))}


def test_there_is_a_file_for_the_layer_for_running_for_embedding_for_testing_and_for_the_template() -> None:
    assert [path.relative_to(ROOT).as_posix() for path in PINNED] == [
        "requirements/dev.txt",
        "requirements/embedding.txt",
        "requirements/local.txt",
        "requirements/sam.txt",
        "shared/requirements.txt",
    ]


@pytest.mark.parametrize("path", PINNED, ids=lambda path: path.name)
def test_requirements_are_pinned_with_hashes_and_name_no_address(path: Path) -> None:
    assert list(faults(path.read_text())) == []


@pytest.mark.parametrize("path", WISHES, ids=lambda path: path.name)
def test_what_is_wished_for_names_no_address(path: Path) -> None:
    assert list(addresses(path.read_text())) == []


@pytest.mark.parametrize("name", ["local.txt", "dev.txt"])
def test_what_is_deployed_is_what_is_run_and_tested(name: str) -> None:
    layer = pins(ROOT / "shared" / "requirements.txt")
    here = pins(ROOT / "requirements" / name)
    assert layer
    assert {name: here.get(name) for name in layer} == layer


@pytest.mark.parametrize("name", ["numpy", "onnxruntime", "tokenizers"])
def test_what_only_one_machine_needs_is_not_deployed(name: str) -> None:
    assert name not in pins(ROOT / "shared" / "requirements.txt")
    assert name in {**pins(ROOT / "requirements" / "local.txt"), **pins(ROOT / "requirements" / "embedding.txt")}


HASH = "--hash=sha256:" + "0" * 64


@pytest.mark.parametrize(
    "line",
    [
        "boto3==1.44.8",
        f"boto3>=1.44.8 {HASH}",
        f"boto3 {HASH}",
        "boto3==1.44.8 --hash=md5:00",
        "--index-url https://packages.invalid/simple",
        "--extra-index-url=packages.invalid",
        "--find-links wheels",
        f"boto3 @ https://packages.invalid/boto3.whl {HASH}",
        "-e .",
    ],
)
def test_a_fault_in_a_requirements_file_is_found(line: str) -> None:
    assert list(faults(f"attrs==26.1.0 \\\n    {HASH}\n{line}\n"))


def test_a_sound_requirements_file_has_no_fault() -> None:
    assert not list(faults(f"attrs==26.1.0 ; python_version < '3.13' \\\n    {HASH} \\\n    {HASH}\n# a remark\n"))
