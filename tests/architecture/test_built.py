"""The check of what `sam build` made finds what must not be in it, and what is missing."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture.built import LAYER, ROOT, bytecode_of, findings, logical_name

ARM = b"\x7fELF" + bytes(14) + (183).to_bytes(2, "little")
INTEL = b"\x7fELF" + bytes(14) + (62).to_bytes(2, "little")


@pytest.fixture
def build(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "shared" / "keepsake", tmp_path / LAYER / "keepsake", ignore=shutil.ignore_patterns("__pycache__"))
    for module in (tmp_path / LAYER).rglob("*.py"):
        written(bytecode_of(module))
    written(tmp_path / LAYER / "fast.cpython-313-aarch64-linux-gnu.so", ARM)
    for folder in (ROOT / "functions").glob("*/__init__.py"):
        written(tmp_path / logical_name(folder.parent.name) / "app.py")
    return tmp_path


def written(path: Path, content: bytes = b"") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_a_sound_build_has_no_findings(build: Path) -> None:
    assert list(findings(build)) == []


@pytest.mark.parametrize(
    ("fault", "finding"),
    [
        (lambda build: shutil.rmtree(build / LAYER), "there is no"),
        (lambda build: (build / LAYER / "keepsake" / "config.py").unlink(), "lacks config.py"),
        (lambda build: written(build / LAYER / "keepsake" / "config.py", b"#"), "config.py differs"),
        (lambda build: bytecode_of(build / LAYER / "keepsake" / "config.py").unlink(), "lacks the bytecode"),
        (lambda build: written(build / LAYER / "keepsake" / "tests" / "test_it.py"), "tests"),
        (lambda build: written(build / LAYER / "slow.so", INTEL), "not for arm64"),
        (lambda build: (build / "TurnFunction" / "app.py").unlink(), "turn was not built"),
    ],
)
def test_a_fault_is_found(build: Path, fault: Callable[[Path], object], finding: str) -> None:
    fault(build)
    assert any(finding in line for line in findings(build))
