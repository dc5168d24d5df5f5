"""Nothing that reads or computes asks the network: imports of every part, a scaffold, a run without a model, its pages and files."""

import subprocess
import sys
from pathlib import Path

LOOKS = """
import sys
sys.modules["uvloop"] = None  # whose connections nobody could watch

asked = []

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        asked.append(f"{event} {arguments[1:] if event == 'socket.connect' else arguments}")

sys.addaudithook(watch)

from click.testing import CliRunner
import proctor
from proctor import registry
from proctor.cli import app

for room in [one for one in vars(registry).values() if isinstance(one, registry.Room)]:
    for name, _ in room.each():
        room.describe(name)
assert not asked, asked

for words in (
    ["init", "project", "started"],
    ["run", "q.jsonl", "--agent", "./a.py:agent", "--run", "one"],
    ["run", "q.jsonl", "--agent", "baseline:oracle", "--run", "two"],
    ["show", "one", "--failures"], ["runs", "samples", "one"], ["runs", "explain", "one", "b"], ["compare", "one", "two"], ["ci", "delta", "one", "two"],
    ["ci", "gate", "one", "--against", "two"], ["ci", "trends"], ["runs"], ["runs", "check"], ["list"], ["demo", "--help"],
    *(["runs", "report", "one", "--out", f"one{suffix}"] for suffix in (".html", ".md", ".json", ".xml")),
    *(["runs", "export", "one", "--format", name] for name in ("table", "junit", "parquet", "xlsx", "otel", "inspect")),
):
    done = CliRunner().invoke(app, words)
    assert done.exit_code in (0, 1, 3), (words, done.output, done.exception)
    assert not asked, (words, asked)
"""


def test_reading_and_computing_connects_to_nobody(tmp_path: Path) -> None:
    rows = '{"id": "a", "question": "1 + 1?", "target": "2"}\n{"id": "b", "question": "1 + 2?", "target": "3"}\n'
    (tmp_path / "q.jsonl").write_text(rows, encoding="utf-8")
    (tmp_path / "a.py").write_text("def agent(question):\n    return '2'\n", encoding="utf-8")
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "PROCTOR_STORE": str(tmp_path / "runs.db"),
        "LANG": "C.UTF-8",
    }
    done = subprocess.run([sys.executable, "-c", LOOKS], check=False, cwd=tmp_path, env=environment, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr[-3_000:]
