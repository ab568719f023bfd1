"""What a new container waits for: each function's imports and clients in a fresh interpreter, against the bare SDK's.

The environment is Lambda's as far as imports look at it. Interpreter start is not counted: Lambda's own runtime has paid it.
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tests.benchmarks.measuring import Sample, table

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = tuple(sorted(path.parent.name for path in ROOT.glob("functions/*/app.py")))
AIM_RATIO = 1.5

_ENVIRONMENT: Mapping[str, str] = {
    "AWS_ACCESS_KEY_ID": "nobody",
    "AWS_SECRET_ACCESS_KEY": "nothing",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "HASH_KEY_SECRET_ARN": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:benchmark",
    "POWERTOOLS_SERVICE_NAME": "keepsake",
    "POWERTOOLS_METRICS_NAMESPACE": "Keepsake",
    "PYTHONPATH": os.pathsep.join((str(ROOT / "shared"), str(ROOT))),
    # Where it is set, the tracer takes itself to be in Lambda, and does not make a client of its own.
    "LAMBDA_TASK_ROOT": "/var/task",
    **{
        f"TABLE_{name}": name.lower()
        for name in ("SESSION_BUFFERS", "SESSION_TURNS", "LONG_TERM_MEMORY", "MEMORY_POINTERS", "AUDIT_LOG", "CONTROL")
    },
}
_TIMED = """
import time
wall, cpu = time.perf_counter(), time.process_time()
{code}
import json
print(json.dumps([1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu)]))
"""
_BARE = "import boto3; boto3.client('dynamodb')"
_BARE_BOTH = f"{_BARE}; boto3.client('secretsmanager')"
_INIT = "import functions.{name}.app; from keepsake import bootstrap; bootstrap.runtime()"
_FIRST_KEY = "from keepsake.adapters.hash_keys import make_client; make_client()"
_BARE_NAME, _BARE_BOTH_NAME = "bare boto3, dynamodb", "bare boto3, both clients"


@dataclass(frozen=True, slots=True)
class Start:
    """Something to start: code, and where its time is compared with."""

    code: str
    against: str
    environment: Mapping[str, str] = field(default_factory=dict)


def starts(without_bytecode: Path) -> Mapping[str, Start]:
    """All that is started. `without_bytecode` is an empty folder, in which no interpreter finds or leaves bytecode."""
    turn = _INIT.format(name="turn")
    raw = {"PYTHONPYCACHEPREFIX": str(without_bytecode), "PYTHONDONTWRITEBYTECODE": "1"}
    return {
        _BARE_NAME: Start(_BARE, _BARE_NAME),
        _BARE_BOTH_NAME: Start(_BARE_BOTH, _BARE_NAME),
        **{name: Start(_INIT.format(name=name), _BARE_NAME) for name in FUNCTIONS},
        "turn, and the secret's client": Start(f"{turn}; {_FIRST_KEY}", _BARE_BOTH_NAME),
        "turn, primed for a snapshot": Start(f"{turn}; bootstrap.runtime().prime()", _BARE_NAME),
        "turn, without bytecode": Start(turn, _BARE_NAME, raw),
    }


def measured(to_start: Mapping[str, Start], runs: int) -> dict[str, Sample]:
    """Each started so often, in turn; after one start that is not counted, which leaves bytecode and warm files behind."""
    samples = {name: Sample() for name in to_start}
    for number in range(runs + 1):
        for name, start in to_start.items():
            wall, cpu = json.loads(_run(_TIMED.format(code=start.code), start.environment))
            if number:
                samples[name].wall.append(wall)
                samples[name].cpu.append(cpu)
    return samples


def report(runs: int, without_bytecode: Path) -> str:
    """Init of each function, and where the turn function's goes."""
    to_start = starts(without_bytecode)
    samples = measured(to_start, runs)
    rows = []
    for name, start in to_start.items():
        sample, other = samples[name], samples[start.against]
        ratio = median(sample.cpu) / median(other.cpu)
        rows.append([name, len(sample), f"{median(sample.cpu):.0f}", f"{median(sample.wall):.0f}", f"{ratio:.2f}", start.against])
    heads = ["init", "count", "CPU", "wall", "ratio", "to"]
    title = f"Init (medians, ms; aim: at most {AIM_RATIO} times bare boto3; the ratio is of processor time)"
    return "\n".join((table(title, heads, rows), imports_beyond_boto3()))


def imports_beyond_boto3(shown: int = 20) -> str:
    """What the turn function imports that the bare SDK does not, by package, most expensive first."""
    bare, turn = (_import_times(code) for code in (_BARE, _INIT.format(name="turn")))
    packages: defaultdict[str, list[int]] = defaultdict(list)
    for module, microseconds in turn.items():
        if module not in bare:
            packages[_package(module)].append(microseconds)
    ordered = sorted(packages.items(), key=lambda package: -sum(package[1]))
    rows = [[name, len(times), f"{sum(times) / 1000:.1f}"] for name, times in ordered[:shown]]
    rest = [time for _, times in ordered[shown:] for time in times]
    total = [time for times in packages.values() for time in times]
    rows += [["all others", len(rest), f"{sum(rest) / 1000:.1f}"], ["together", len(total), f"{sum(total) / 1000:.1f}"]]
    return table("What the turn function imports beyond bare boto3 (-X importtime, once)", ["package", "modules", "ms"], rows)


def _package(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] in {"keepsake", "aws_lambda_powertools"} else parts[0]


def _import_times(code: str) -> dict[str, int]:
    """Microseconds of each module by itself."""
    times: dict[str, int] = {}
    for line in _run(code, {}, "-X", "importtime", errors=True).splitlines():
        if line.startswith("import time:") and "self [us]" not in line:
            microseconds, _, module = line.removeprefix("import time:").split("|")
            times[module.strip()] = int(microseconds)
    return times


def _run(code: str, environment: Mapping[str, str], *options: str, errors: bool = False) -> str:
    """What fresh code prints; on standard error, when that is asked for."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "TABLE_", "POWERTOOLS_"))}
    done = subprocess.run(
        [sys.executable, *options, "-c", code],
        cwd=ROOT,
        env={**inherited, **_ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"a fresh start failed: {done.stderr}")
    return done.stderr if errors else done.stdout
