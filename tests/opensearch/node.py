"""A real OpenSearch node for tests, built once from Maven artifacts and started on loopback. Needs a JDK (17) and Maven.

`python -m tests.opensearch.node` starts one and says where it answers, until Enter or the end of its input;
`python -m tests.opensearch.node pytest ...` runs a command with OPENSEARCH_URL set to it, or as it is when it is set already.
Tests ask `node_url` for it.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

HERE = Path(__file__).parent
WORK = HERE.parents[1] / ".opensearch"  # ignored by git; `make clean` removes it
URL = "OPENSEARCH_URL"
REQUIRE = "KEEPSAKE_REQUIRE_OPENSEARCH"
PLUGINS = (
    "org.opensearch.analysis.common.CommonAnalysisPlugin",
    "org.opensearch.painless.PainlessPlugin",
    "org.opensearch.index.mapper.MapperExtrasPlugin",
    "org.opensearch.transport.Netty4Plugin",
    "org.opensearch.knn.plugin.KNNPlugin",
)
JAVA = ("-Xms512m", "-Xmx768m", "-XX:+UseSerialGC", "-Dlog4j2.level=error")


def node_url() -> str:
    """Where a node answers. Skips the test (or module) when nobody named one, and fails it where one is required."""
    if url := os.environ.get(URL):
        return url
    if os.environ.get(REQUIRE):
        pytest.fail(f"{REQUIRE} is set, but {URL} names no node", pytrace=False)
    pytest.skip(f"no OpenSearch node: `make opensearch-test` starts one, or {URL} names one", allow_module_level=True)


@contextmanager
def running_node() -> Iterator[str]:
    """A node of its own, empty, and its URL. Raises RuntimeError when it cannot be built or does not start."""
    built = _built()
    home = Path(tempfile.mkdtemp(prefix="home-", dir=WORK))
    path = os.pathsep.join([str(built / "classes"), str(built / "lib" / "*"), str(built / "knn" / "*")])
    command = ["java", *JAVA, "-cp", path, "SearchNode", str(home), *PLUGINS]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{_port(process)}"
    finally:
        process.communicate(timeout=30)  # closes its input, and so ends it
        shutil.rmtree(home, ignore_errors=True)


def _port(process: "subprocess.Popen[str]") -> int:
    assert process.stdout
    for line in process.stdout:
        if line.startswith("listening on "):
            return int(line.split()[-1])
    raise RuntimeError("the OpenSearch node did not start: what it said stands above")


def _built() -> Path:
    """The folder of the built node: built anew when what it is built from changed, by one process at a time."""
    sources = [HERE / "pom.xml", HERE / "SearchNode.java"]
    fingerprint = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    built = WORK / fingerprint
    WORK.mkdir(exist_ok=True)
    with (WORK / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (built / "done").exists():
            missing = [tool for tool in ("mvn", "javac", "java") if not shutil.which(tool)]
            if missing:
                raise RuntimeError(f"an OpenSearch node needs a JDK (17) and Maven; missing: {', '.join(missing)}")
            print("Building the OpenSearch node (once; Maven may be silent for a minute)", file=sys.stderr, flush=True)
            _build(built)
            (built / "done").touch()
    return built


def _build(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lib = folder / "lib"
    copying = ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), "dependency:copy-dependencies", f"-DoutputDirectory={lib}"]
    subprocess.run(copying, check=True, stdin=subprocess.DEVNULL)
    (plugin,) = lib.glob("opensearch-knn-*.zip")
    shutil.unpack_archive(plugin, folder / "knn")
    subprocess.run(["javac", "-cp", f"{lib}/*", "-d", str(folder / "classes"), str(HERE / "SearchNode.java")], check=True)


def main(command: list[str]) -> int:
    """Run `command` beside a node, or keep one until somebody has had enough of it."""
    try:
        with nullcontext(os.environ[URL]) if os.environ.get(URL) else running_node() as url:
            if command:
                return subprocess.run(command, env={**os.environ, URL: url, REQUIRE: "1"}, check=False).returncode
            print(f"{URL}={url}", flush=True)
            sys.stdin.readline()
    except (RuntimeError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
