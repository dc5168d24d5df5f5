"""Every trial and every finding has an id of its own, whatever samples, files and runs are called."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

import proctor
from proctor.cli import app
from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor_audit.check import AuditCheck
from proctor_audit.inspector.inspecting import findings_of
from proctor_audit.inspector.sources import read_sources
from proctor_audit.inspector.view import InspectedTrial, TrialEvent, TrialStep, trial_id

DATA = Path(__file__).parents[2] / "data"
attempts = st.tuples(st.text("a#12", max_size=6), st.integers(0, 120))


@given(one=attempts, other=attempts)
@example(one=("a", 1), other=("a#1", 0))
@example(one=("a#", 1), other=("a##1", 0))
def test_two_attempts_never_share_an_id(one: tuple[str, int], other: tuple[str, int]) -> None:
    assert (trial_id(*one) == trial_id(*other)) == (one == other)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    return tmp_path


def ids_in(*names: str) -> list[str]:
    return [trial.id for trial, _ in read_sources(names)]


def test_a_second_attempt_is_not_the_sample_that_is_called_like_it() -> None:
    rows = [{"id": id, "question": id, "answer": "-"} for id in ("a", "a#1")]
    Path("exam.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run = proctor.evaluate("exam.jsonl", agent=lambda _: "", attempts=2)
    assert sorted(ids_in(run.id)) == ["a", "a##1", "a##1#1", "a#1"]


def conversations(path: str, *ids: object) -> None:
    Path(path).parent.mkdir(exist_ok=True)
    messages = [{"role": "user", "content": "a?"}, {"role": "assistant", "content": "b"}]
    lines = [json.dumps({"id": id, "messages": messages}) + "\n" for id in ids]
    Path(path).write_text("".join(lines), encoding="utf-8")


def test_a_row_without_an_id_is_called_by_its_line_and_one_with_the_id_0_is_not() -> None:
    conversations("chats.jsonl", 0, 1, None, "")
    assert ids_in("chats.jsonl") == ["0", "1", "3", "4"]


def test_files_of_one_name_are_told_apart_by_their_folder() -> None:
    for path in ("old/chats.jsonl", "new/chats.jsonl", "more.jsonl"):
        conversations(path, "t1")
    assert ids_in("old/chats.jsonl", "new/chats.jsonl", "more.jsonl") == [
        "old/chats.jsonl/t1",
        "new/chats.jsonl/t1",
        "more.jsonl/t1",
    ]


def test_a_source_that_is_named_twice_is_refused() -> None:
    conversations("chats.jsonl", "t1")
    with pytest.raises(BadInput, match=r"chats\.jsonl is named twice"):
        ids_in("chats.jsonl", "./chats.jsonl")


@pytest.mark.parametrize("name", ["imports/promptfoo.jsonl", "imports/inspect.eval"])
def test_the_trials_of_a_log_have_ids_of_their_own(name: str) -> None:
    ids = ids_in(str(DATA / name))
    assert len({*ids}) == len(ids)


def test_traces_of_several_attempts_have_ids_of_their_own() -> None:
    Path("exam.jsonl").write_text(json.dumps({"id": "q", "question": "1?", "answer": "1"}) + "\n", encoding="utf-8")
    run = proctor.evaluate("exam.jsonl", agent=lambda _: "1", attempts=3)
    exported = CliRunner().invoke(app, ["runs", "export", run.id, "--format", "otel", "--content", "-o", "spans.jsonl"])
    assert exported.exit_code == 0, exported.output
    assert ids_in("spans.jsonl") == ["q", "q#1", "q#2"]


def find_two(trial: InspectedTrial) -> Iterator[TrialEvent]:
    for _ in range(2):
        yield TrialEvent(steps=(0,), span="", sentence=say("Twice."))


def test_a_second_event_is_not_the_first_of_a_trial_that_is_called_like_it() -> None:
    check = AuditCheck(name="two", group="I1", cls="look", title=say("Two."), find=find_two)
    trials = [InspectedTrial(id=id, steps=(TrialStep(index=0, author="agent"),), calls=()) for id in ("t", "t.2")]
    assert [finding.id for trial in trials for finding in findings_of(trial, check)] == [
        "two:t",
        "two.2:t",
        "two:t.2",
        "two.2:t.2",
    ]
