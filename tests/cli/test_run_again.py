"""Change the agent, run again: an old number is never shown as if it were new."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from proctor import open_run
from proctor.api.resuming import check_code
from proctor.cli import app
from proctor.core.errors import BadInput

QUESTIONS = (
    '{"id": "fr", "question": "France?", "target": "Paris"}\n{"id": "no", "question": "Norway?", "target": "Oslo"}\n'
)
AGENT = """
from pathlib import Path

from helper import capital


def answer(question):
    return Path("prompt.txt").read_text().strip() or capital(question)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", "runs.db")
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "questions.jsonl").write_text(QUESTIONS)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "helper.py").write_text("def capital(question):\n    return 'Oslo'\n")
    (tmp_path / "prompt.txt").write_text("")
    (tmp_path / "length.py").write_text("def short(sample, trajectory):\n    return len(trajectory.answer) < 9\n")
    return tmp_path


def run(*more: str) -> Result:
    for name in [name for name in sys.modules if name == "helper" or name.startswith("proctor_user_")]:
        del sys.modules[name]  # as a new process has it
    words = ["questions.jsonl", "--agent", "./agent.py:answer", "--scorer", "exact", "--scorer", "./length.py:short"]
    return CliRunner().invoke(app, ["run", *words, "--run", "mine", "--quiet", *more])


def test_a_finished_run_called_again_says_that_nothing_was_run() -> None:
    assert "Nothing was run" not in run().output
    again = run()
    assert again.exit_code == 0
    assert "Nothing was run: the 2 trials of 'mine' (begun 20" in again.stderr
    assert "choose another name (--run)" in again.stderr
    assert "50.0%" in again.stdout
    assert "没有运行任何东西" in run("--lang", "zh").stderr


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("helper.py", "def capital(question):\n    return 'Paris'\n", "helper.py (agent)"),
        ("prompt.txt", "Paris", "prompt.txt (agent)"),
        ("agent.py", AGENT + "\nTEMPERATURE = 1\n", "agent.py (agent)"),
        ("length.py", "def short(sample, trajectory):\n    return True\n", "length.py (scorers)"),
    ],
)
def test_a_change_anywhere_is_told_before_any_number(folder: Path, name: str, text: str, said: str) -> None:
    run()
    (folder / name).write_text(text)
    again = run()
    assert (again.exit_code, again.stdout) == (2, "")
    assert said in again.stderr
    assert "--accept-changes" in again.stderr
    accepted = run("--accept-changes")
    assert accepted.exit_code == 0
    assert any("Its numbers mix both" in str(one) for one in open_run("mine", store="runs.db").record.warnings)
    assert run().exit_code == 0, "what was accepted once is the code of the run"


def test_a_run_that_kept_its_files_under_the_name_of_the_datas_is_compared_too(folder: Path) -> None:
    run()
    stored = open_run("mine", store="runs.db")
    kept = dict(stored.record.provenance)
    before = replace(stored.record, provenance={**kept, "files": {"data.json": "d1", **kept.pop("code")}})
    now = stored.record
    assert check_code(before, now, accept=False) is before
    helper = {**now.provenance["code"]["agent"], "helper.py": "other"}
    with pytest.raises(BadInput, match=r"helper\.py"):
        check_code(
            before,
            replace(now, provenance={**now.provenance, "code": {**now.provenance["code"], "agent": helper}}),
            accept=False,
        )


def test_the_script_of_a_process_is_part_of_its_run(folder: Path) -> None:
    program = folder / "program.py"
    program.write_text('import sys\nfor line in sys.stdin: print(\'{"answer": "Paris"}\', flush=True)\n')
    words = ["run", "questions.jsonl", "--agent", f"process:{sys.executable} program.py", "--scorer", "exact"]
    assert CliRunner().invoke(app, [*words, "--run", "p", "--quiet"]).exit_code == 0
    program.write_text(program.read_text().replace("Paris", "Oslo"))
    again = CliRunner().invoke(app, [*words, "--run", "p", "--quiet"])
    assert again.exit_code == 2
    assert "program.py (agent)" in again.stderr


def test_other_conditions_are_said_in_words() -> None:
    run("--limit", "1")
    said = run("--limit", "2", "--seed", "3").stderr
    assert "--seed: 0 → 3" in said
    assert "--limit: 1 → 2" in said
    assert "--run" in said
    assert "{" not in said
    assert "--limit：1 → 未设置" in run("--lang", "zh").stderr


def test_another_task_is_all_that_is_said_of_another_task(folder: Path) -> None:
    run()
    (folder / "other.jsonl").write_text(QUESTIONS)
    words = ["run", "other.jsonl", "--agent", "baseline:null", "--scorer", "exact", "--attempts", "2", "--run", "mine"]
    said = CliRunner().invoke(app, words).stderr
    assert "TASK: questions.jsonl → other.jsonl. " in said
    assert "attempts" not in said


def test_limits_and_width_are_remembered_and_may_be_moved() -> None:
    run("--concurrency", "1", "--time-limit", "7", "--max-failed", "0.5")
    assert CliRunner().invoke(app, ["run", "--run", "mine", "--quiet"]).exit_code == 0
    spec = open_run("mine", store="runs.db").record.spec
    assert (spec.concurrency, spec.limits.seconds, spec.max_failed) == (1, 7, 0.5)
    run()
    CliRunner().invoke(app, ["run", "--run", "mine", "--quiet", "--time-limit", "9"])
    spec = open_run("mine", store="runs.db").record.spec
    assert (spec.concurrency, spec.limits.seconds, spec.max_failed) == (1, 9, 0.5)


@pytest.mark.parametrize(
    "words",
    [
        ["--time-limit", "-1"],
        ["--time-limit", "0"],
        ["--attempts", "0"],
        ["--concurrency", "0"],
        ["--workers", "0"],
        ["--limit", "0"],
        ["--max-failed", "1.5"],
        ["--seed", str(2**70)],
        ["--budget", "tokens=0"],
    ],
)
def test_bounds_out_of_range_are_refused(words: list[str]) -> None:
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    name = words[0].removeprefix("--").replace("-", "_")
    assert {"time_limit": "limits.seconds"}.get(name, name) in result.stderr.replace("-", "_")


def test_a_scorer_of_the_task_added_by_its_path_is_the_same_scorer(folder: Path) -> None:
    (folder / "capitals.py").write_text(
        "from proctor import Sample, Task\n\n"
        "def short(sample, trajectory):\n    return len(trajectory.answer) < 9\n\n"
        "def capitals():\n"
        "    return Task(name='c', samples=[Sample.ask('fr', 'France?', target='Paris')], scorers=['exact', short])\n"
    )
    words = ["run", "./capitals.py:capitals", "--agent", "./agent.py:answer", "--run", "mine", "--quiet"]
    assert CliRunner().invoke(app, words).exit_code == 0
    scored = CliRunner().invoke(
        app, ["score", "--run", "mine", "--scorer", "exact", "--scorer", "./capitals.py:short", "--quiet"]
    )
    assert scored.exit_code == 0, scored.output
    for again in (["run", "--run", "mine", "--quiet"], words):
        result = CliRunner().invoke(app, again)
        assert result.exit_code == 0, result.output
    other = CliRunner().invoke(app, ["run", "questions.jsonl", "--agent", "baseline:null", "--run", "mine", "--quiet"])
    assert "TASK: ./capitals.py:capitals → questions.jsonl" in other.stderr
