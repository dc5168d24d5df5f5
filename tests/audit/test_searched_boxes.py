"""What a shell in a box finds of tests and solutions: a folder of tasks, our own tasks, the shell of AgentBench."""

import json
from pathlib import Path
from typing import Any

import agentbench_clone as clone
import pytest
from click.testing import CliRunner

from proctor.cli import app
from proctor_audit import shell_search
from proctor_benchmarks.agentbench import os_loop
from proctor_benchmarks.boxes.namespace import lacks

pytestmark = pytest.mark.skipif(bool(lacks()), reason=f"needs {lacks()}")
SOLVE = "#!/bin/bash\nprintf 42 > /app/answer.txt\n"


def audited(task: str, *words: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["audit-task", task, "--check", "canary-seen", "--json", *words])
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def write_task(folder: Path, files: dict[str, str]) -> None:
    texts = {
        "instruction.md": "Write 42 into answer.txt.",
        "tests/test.sh": '#!/bin/bash\n[ "$(cat answer.txt)" = 42 ]\n',
    }
    texts |= {"solution/solve.sh": SOLVE, **{f"environment/{name}": text for name, text in files.items()}}
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_a_solution_that_was_left_among_the_files_of_the_agent_is_proved(tmp_path: Path) -> None:
    write_task(tmp_path / "tasks" / "left", {"old/solve.sh": SOLVE, "read.me": "Hello."})
    write_task(tmp_path / "tasks" / "own", {"solve.sh": "#!/bin/bash\necho 'Write your solution here.'\n"})
    report = audited(f"harbor:{tmp_path / 'tasks'}")
    assert [(each["id"], each["class"]) for each in report["findings"]] == [("canary-seen:left", "proved")]
    assert report["findings"][0]["witness"]["attempts"][0]["saw"] == "run: files"
    assert report["not_checked"] == []  # every place was searched


def test_our_own_tasks_show_nothing(tmp_path: Path) -> None:
    report = audited("terminal-basics", "--first", "1")
    assert report["findings"] == report["not_checked"] == []


def test_the_shell_of_agentbench_is_searched_by_what_is_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell_search, "SECONDS", 1)
    root = clone.write_sources(clone.write(tmp_path / "AgentBench"))
    words = ("--set", f"data={root}", "--set", "split=dev", "--id", "os/dev-001-dev-00000")
    report = audited("agentbench/os", *words)
    assert report["findings"] == report["not_checked"] == []

    prepare = os_loop.prepare

    async def leave_checks(problem: os_loop.Problem, machine: os_loop.OsMachine) -> None:
        await prepare(problem, machine)
        texts = [script.code for script in problem.check or () if script is not None]
        await machine.run(os_loop.OsScript(language="bash", code='printf "%s" "$1" > /srv/check.sh'), *texts[:1])

    monkeypatch.setattr(os_loop, "prepare", leave_checks)
    [finding] = audited("agentbench/os", *words)["findings"]
    assert finding["class"] == "proved"
    assert finding["witness"]["attempts"][0]["saw"] == "shell: files"
