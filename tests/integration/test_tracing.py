import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
IN_LAMBDA = {"LAMBDA_TASK_ROOT": "/var/task", "AWS_LAMBDA_FUNCTION_NAME": "turn", "AWS_XRAY_DAEMON_ADDRESS": "127.0.0.1:9"}
TRACED = {"_X_AMZN_TRACE_ID": "Root=1-6968d740-5c1e9f7a2b3d4e6f8a9b0c1d;Parent=53995c3f42cd8ad8;Sampled=1"}
CALLS = """
import sys
sys.path[:0] = ["shared", "."]
from pathlib import Path
from aws_xray_sdk.core import xray_recorder
from keepsake.adapters.sqlite_store import SqliteItemStore
from tests.fakes import FakeClock
from tests.world import World
class Emitter:
    def send_entity(self, entity):
        print("sent", entity.serialize())
xray_recorder.emitter = Emitter()
world = World(SqliteItemStore(Path(sys.argv[1])), FakeClock())
print("status", world.turn("canary-session", "canary words", turn_id="canary-turn").status)
"""


@pytest.mark.parametrize("trace", [TRACED, {}], ids=["traced", "untraced"])
def test_a_call_in_lambda_is_traced_without_anybodys_words(tmp_path: Path, trace: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CALLS, str(tmp_path / "keepsake.db")],
        cwd=ROOT,
        env=os.environ | IN_LAMBDA | trace,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "status 200" in done.stdout
    assert ('"route": "POST /v1/sessions/{session_id}/turns"' in done.stdout) is bool(trace)
    assert "canary" not in done.stdout + done.stderr
