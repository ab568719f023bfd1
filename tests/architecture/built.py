"""Checks what `sam build` made: `python tests/architecture/built.py .aws-sam/build`. Run by `make template`; needs no package."""

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYER = Path("KeepsakeLayer/python")
UNZIPPED_LIMIT = 250 * 1024 * 1024  # Lambda's, for a function with its layers
PYTHON = "cpython-313"  # the functions' runtime
AARCH64 = 183  # e_machine of an ELF file


def findings(build: Path) -> Iterator[str]:
    """What is wrong with the build, a line each."""
    layer = build / LAYER
    if not layer.is_dir():
        yield f"there is no {LAYER}"
        return
    files = [path for path in layer.rglob("*") if path.is_file()]
    yield from _package(layer)
    for path in files:
        name = path.relative_to(layer)
        if "tests" in name.parts:
            yield f"the layer holds {name}"
        if path.suffix == ".py" and not bytecode_of(path).is_file():
            yield f"the layer lacks the bytecode of {name}"
        if ".so" in path.suffixes and not _is_for_arm(path):
            yield f"{name} is not for arm64"
    if sum(path.stat().st_size for path in build.rglob("*") if path.is_file()) > UNZIPPED_LIMIT:
        yield "the build is larger than Lambda takes"
    yield from _functions(build)


def _package(layer: Path) -> Iterator[str]:
    """Everything of the package, its data files too, is in the layer, byte for byte."""
    source = ROOT / "shared" / "keepsake"
    for path in source.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            built = layer / "keepsake" / path.relative_to(source)
            if not built.is_file():
                yield f"the layer lacks {path.relative_to(source)}"
            elif built.read_bytes() != path.read_bytes():
                yield f"{path.relative_to(source)} differs in the layer"


def _functions(build: Path) -> Iterator[str]:
    for folder in (path.parent.name for path in (ROOT / "functions").glob("*/__init__.py")):
        if not (build / logical_name(folder) / "app.py").is_file():
            yield f"{folder} was not built"


def logical_name(folder: str) -> str:
    """What the template calls the function of a folder."""
    return "".join([part.capitalize() for part in folder.split("_")]) + "Function"


def bytecode_of(path: Path) -> Path:
    """Where the runtime looks for the bytecode of a module."""
    return path.parent / "__pycache__" / f"{path.stem}.{PYTHON}.pyc"


def _is_for_arm(path: Path) -> bool:
    head = path.read_bytes()[:20]
    return head[:4] == b"\x7fELF" and int.from_bytes(head[18:20], "little") == AARCH64


def main() -> int:
    """Print the findings; 1 when there are any."""
    found = list(findings(Path(sys.argv[1])))
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        print("The build holds what it should.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
