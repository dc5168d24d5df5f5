"""`proctor demo` scores real replies, and says what the numbers say."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.agents import replay
from proctor.api import score
from proctor.cli import app, demo
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor_benchmarks.bfcl import task as bfcl_task
from proctor_benchmarks.bfcl.scorer import bfcl


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    return tmp_path


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", ["192 replies", "The percentages alone say: greedy is better, by 4.2 points", "cannot be told", "only greedy in 7", "One that warm got wrong", "proctor init"]),
        ("zh", ["192 条回复", "只看百分比：greedy 更好，高 4.2 个百分点", "看不出哪一个更好", "只有 greedy 答对的有 7 题", "warm 答错而 greedy 答对", "proctor init"]),
    ],
)  # fmt: skip
def test_two_agents_are_compared_and_nothing_is_left(lang: str, said: list[str], folder: Path) -> None:
    result = CliRunner().invoke(app, ["--lang", lang, "demo"])
    assert result.exit_code == 0, result.output
    places = [result.stdout.find(one) for one in said]
    assert -1 not in places
    assert places == sorted(places)
    assert not [*folder.iterdir()]


def test_a_page_lists_every_question(folder: Path) -> None:
    result = CliRunner().invoke(app, ["--lang", "en", "demo", "--out", "demo.html"])
    assert result.exit_code == 0, result.output
    page = (folder / "demo.html").read_text(encoding="utf-8")
    assert all(row["id"] in page for row in map(json.loads, demo.QUESTIONS.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda line: line, "The percentages alone say: both are equally good. That is the wrong conclusion: a difference within −"),
        (lambda line: json.dumps({"id": json.loads(line)["id"], "calls": []}), "The pairs of replies say: greedy is better, but by how much is open: −"),
    ],
)  # fmt: skip
def test_what_it_says_follows_from_the_replies(edit, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    """With the replies of the first agent in place of the second one's, or with none, it says something else."""
    shutil.copytree(demo.FOLDER, folder / "copy")
    lines = (demo.FOLDER / "greedy.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "copy" / "warm.jsonl").write_text("\n".join(map(edit, lines)), encoding="utf-8")
    monkeypatch.setattr(demo, "FOLDER", folder / "copy")
    result = CliRunner().invoke(app, ["--lang", "en", "demo"])
    assert said in " ".join(result.stdout.split()), result.output


def test_the_verdict_on_every_reply_is_that_of_the_benchmark() -> None:
    """The questions put BFCL's rule in the words of the kernel's scorer, as `bench/demo_recordings.py` wrote them."""
    samples = bfcl_task("simple_python").samples
    assert not callable(samples)
    official: dict[str, Sample] = {sample.id: sample for sample in samples}
    for name in (demo.FIRST, demo.SECOND):
        file = demo.FOLDER / f"{name}.jsonl"
        run = score(str(demo.QUESTIONS), replies=file, scorers=["trajectory:exact"], store=":memory:")
        replies = dict(replay.read(file))
        verdicts = [*run.verdicts()]
        assert len(verdicts) == len(replies) == 96
        for verdict in verdicts:
            theirs = bfcl(official[verdict.sample_id], replies[verdict.sample_id])
            assert isinstance(theirs, Score)
            assert isinstance(verdict.result, Score)
            assert verdict.result.points == theirs.points, verdict.sample_id
