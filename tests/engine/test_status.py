"""The engine knows how a run stands; who watches it changes nothing."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import proctor
from proctor import Sample, Task
from proctor.cli import app
from proctor.core.trial import Trial
from proctor.engine.progress import MOVED, Progress
from proctor.engine.status import RunStatus

TASK = Task(name="t", samples=[Sample.ask(str(n), "1 + 1?", target="2") for n in range(6)], scorers=["exact"])


async def echo(question: str) -> str:
    return "2"


def test_a_display_that_counts_nothing_does_not_change_the_end(tmp_path: Path) -> None:
    class Blind(Progress):
        def begin(self, status: RunStatus) -> None:
            pass

    run = proctor.evaluate(TASK, agent=echo, store=str(tmp_path / "a.db"), progress=Blind())
    assert (run.record.state, run.outcomes) == ("finished", {"scored": 6})


def test_the_status_counts_each_trial_once(tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []

    class Shown(Progress):
        def added(self, trial: Trial, verdicts: object) -> None:
            seen.append((trial.sample_id, self.status.done))

    progress = Shown()
    proctor.evaluate(TASK, agent=echo, store=str(tmp_path / "a.db"), progress=progress)
    assert sorted(done for _, done in seen) == [1, 2, 3, 4, 5, 6]
    assert progress.status.is_complete


def test_a_rescored_run_whose_budget_did_not_last_says_so_itself(tmp_path: Path) -> None:
    (tmp_path / "judge.jsonl").write_text(
        json.dumps({"scores": {"correct": 5}, "reason": "fine"}) + "\n", encoding="utf-8"
    )
    store = str(tmp_path / "a.db")
    run = proctor.evaluate(TASK, agent=echo, store=store, run_id="r")
    judge = {"judge": f"scripted:{tmp_path / 'judge.jsonl'}", "scorers": ["rubric:answer-quality"]}
    short = proctor.rescore(run, budget={"requests": 2}, **judge)  # type: ignore[arg-type]
    assert short.record.state == "inconclusive"
    assert "budget" in str(short.record.note)
    assert proctor.open_run("r", store=store).record.state == "inconclusive"


SCORER = """
import inspect, json
from pathlib import Path
import proctor
from proctor import Score

def way(sample, trajectory):
    source = Path(proctor.__file__).parent
    frames = [frame.frame.f_code for frame in reversed(inspect.stack()) if Path(frame.filename).is_relative_to(source)]
    Path("way.json").write_text(json.dumps([code.co_name for code in frames if "<locals>" not in code.co_qualname]))
    return Score(points=1)

way.inline = True
"""


def test_from_the_command_to_a_score_are_six_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").write_text('{"id": "a", "question": "1 + 1?", "target": "2"}\n', encoding="utf-8")
    (tmp_path / "mine.py").write_text(SCORER, encoding="utf-8")
    asked = ["run", "q.jsonl", "--agent", "baseline:echo", "--scorer", "./mine.py:way", "--quiet"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    calls = json.loads((tmp_path / "way.json").read_text())
    # `engine.evaluate` waits for its workers, so it is on no stack: it is the sixth, after `run_in_loop`
    assert calls[calls.index("command") :] == ["command", "run_task", "run_in_loop", "run_trial", "score_trial"]


def test_the_counts_of_earlier_versions_are_read_from_the_status_with_a_warning() -> None:
    progress = Progress()
    progress.status.done = 3
    for name in MOVED:
        with pytest.warns(DeprecationWarning, match=rf"Progress\.{name} is now Progress\.status\."):
            getattr(progress, name)
    with pytest.warns(DeprecationWarning, match=r"Progress\.done is now Progress\.status\.done"):
        assert vars(Progress)["__getattr__"](progress, "done") == 3
    assert not hasattr(progress, "dnoe")
