"""Logs of Inspect are runs: recorded by Inspect itself, in both of its forms, and damaged or hostile ones."""

import json
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from proctor.api import compare, rescore, resumable
from proctor.core.errors import BadInput
from proctor.core.score import Score, Unscored
from proctor.core.task import Store
from proctor.stores import open_store
from proctor_adapters.importing import Imported, import_log
from proctor_adapters.imports import LogReading, _source, keeping
from proctor_adapters.imports._values import number
from proctor_ci import request

LOGS = Path(__file__).parents[1] / "data" / "imports"
SAMPLE = {"id": "a", "epoch": 1, "input": "2+2?", "target": "4", "scores": {"match": {"value": "C", "answer": "4"}}}
HEADER = {"version": 2, "status": "success", "eval": {"task": "sums", "model": "m", "config": {"epochs": 1}}}


@pytest.fixture
def store() -> Store:
    return open_store(":memory:")


def zipped(path: Path, *samples: Mapping[str, Any], **members: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps(HEADER))
        for number, sample in enumerate(samples):
            file.writestr(f"samples/{number}_epoch_1.json", json.dumps({**SAMPLE, **sample}))
        for name, text in members.items():
            file.writestr(name, text)
    return path


def only(path: Path, store: Store, **given: Any) -> Imported:
    (found,) = import_log(path, store=store, **given)
    return found


@pytest.mark.parametrize("name", ["inspect.eval", "inspect.json"])
def test_both_forms_of_a_recorded_log_are_the_same_run_with_the_scores_of_the_log(name: str, store: Store) -> None:
    how = LogReading(tags=("level",), scales={"parts.length": (0, 10)})
    found = only(LOGS / name, store, how=how)
    assert [(one.scorer, one.metric, one.is_equal) for one in found.figures] == [
        ("match", "accuracy", True),
        ("includes", "accuracy", True),
        ("parts.short", "mean", True),
        ("parts.length", "mean", True),
    ]
    run = found.run
    assert run.outcomes == {"scored": 6, "environment_failed": 2}
    assert (run.record.task, run.record.agent, run.record.spec.attempts) == ("small", "mockllm/model", 2)
    (trial, _) = run.store.trials(run.id, sample_id="sum")
    assert [step.message.role for step in trial.trajectory.steps] == ["assistant", "tool", "assistant"]
    assert trial.trajectory.calls()[0].arguments == {"x": 1, "y": 1}
    assert (trial.trajectory.answer, trial.usage.output_tokens) == ("It is 2", 29)
    sample = run.store.sample(run.id, "sum")
    assert sample is not None
    assert (sample.question, sample.target, dict(sample.tags)) == ("What is 1+1? Use the tool.", "2", {"level": "easy"})
    failed = next(run.store.trials(run.id, sample_id="broken"))
    assert failed.failure is not None
    assert "died" in str(failed.failure.reason)


def test_an_imported_run_is_scored_again_compared_and_never_resumed(store: Store) -> None:
    first = only(LOGS / "inspect.eval", store, run_id="first").run
    second = only(LOGS / "inspect.json", store, run_id="second").run
    assert compare(first, second).rows[0].difference.value == 0
    again = rescore(first, scorers=["exact"])
    assert again.estimate("exact.accuracy").value == pytest.approx(1 / 3)
    assert again.estimate("match.accuracy").value == pytest.approx(2 / 3)
    elsewhere = only(LOGS / "inspect.json", store, run_id="third", how=LogReading(task="sums")).run
    for one, other, task in ((first, elsewhere, first.record.task), (elsewhere, first, "sums")):
        with pytest.raises(BadInput, match=f"again under the name .* proctor runs import FILE --task {task}"):
            compare(one, other)
    with pytest.raises(BadInput, match="was imported"):
        resumable("first", store)
    with pytest.raises(BadInput, match="cannot be made again"):
        request.again(first.record)


def test_a_scorer_of_ours_is_compared_with_those_of_the_log(store: Store) -> None:
    found = only(LOGS / "inspect.eval", store, scorers=["exact"])
    agreement = {one.log: (one.ours, one.same, one.both) for one in found.agreement}
    assert agreement["match"] == ("exact", 4, 6)  # "It is 2" is not exactly "2"
    assert agreement["parts.length"] == ("exact", 0, 0)
    with pytest.raises(BadInput, match="exat"):
        only(LOGS / "inspect.eval", store, run_id="other", scorers=["exat"])
    assert [record.id for record in store.runs()] == [found.run.id]


def test_the_same_log_is_not_imported_twice_by_accident(store: Store) -> None:
    only(LOGS / "inspect.eval", store)
    with pytest.raises(BadInput, match="has a run"):
        only(LOGS / "inspect.eval", store)


def test_how_a_sample_ended_is_never_a_zero(tmp_path: Path, store: Store) -> None:
    path = zipped(
        tmp_path / "a.eval",
        {"id": 1, "scores": None, "error": {"message": "CancelledError('x')"}},
        {"id": 2, "scores": None, "error": {"message": "no sandbox"}},
        {"id": 3, "scores": None, "limit": {"type": "token", "limit": 5}},
        {"id": 4, "limit": {"type": "message", "limit": 5}},
        {"id": 5, "scores": {"match": {"value": None, "explanation": "the grader did not answer"}}},
    )
    run = only(path, store).run
    ended = {trial.sample_id: (trial.outcome, trial.trajectory.stop) for trial in run.store.trials(run.id)}
    assert ended == {
        "1": ("cancelled", "done"),
        "2": ("environment_failed", "done"),
        "3": ("skipped", "length"),
        "4": ("scored", "step_limit"),
        "5": ("scored", "done"),
    }
    results = {verdict.sample_id: verdict.result for verdict in run.verdicts()}
    assert isinstance(results["4"], Score)
    unscored = results["5"]
    assert isinstance(unscored, Unscored)
    assert unscored.reason == "the grader did not answer"
    assert run.record.state == "finished" if run.outcomes["environment_failed"] / 5 <= 0.05 else "inconclusive"


def test_a_log_that_was_cut_off_is_read_from_its_journal_and_counts_what_is_missing(
    tmp_path: Path, store: Store
) -> None:
    start = {"version": 2, "eval": {**HEADER["eval"], "dataset": {"sample_ids": ["a", "b", "c"]}}}  # type: ignore[dict-item]
    path = tmp_path / "cut.eval"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("_journal/start.json", json.dumps(start))
        file.writestr("samples/a_epoch_1.json", json.dumps(SAMPLE))
    run = only(path, store).run
    assert (run.record.planned, run.record.state, run.outcomes) == (3, "stopped", {"scored": 1})
    assert run.estimate("accuracy").floor == pytest.approx(1 / 3)


def test_older_logs_have_one_score_and_results_of_one_scorer(tmp_path: Path, store: Store) -> None:
    sample = {"id": 1, "epoch": 1, "input": "q", "target": "t", "score": {"value": 0.5}, "messages": []}
    path = tmp_path / "old.json"
    log = {"version": 1, "status": "success", "eval": {"task": "old", "model": "m"}, "plan": {}, "samples": [sample]}
    path.write_text(json.dumps(log))
    assert only(path, store).run.estimate("score").value == 0.5


def test_not_a_number_and_lone_surrogates_are_read_as_python_writes_them(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "nan.eval"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.json", json.dumps(HEADER))
        sample = {**SAMPLE, "input": "\ud83d", "scores": {"match": {"value": float("nan")}}}
        file.writestr("samples/a_epoch_1.json", json.dumps(sample))
    run = only(path, store).run
    (verdict,) = run.verdicts()
    assert isinstance(verdict.result, Unscored)


def test_scores_outside_their_range_are_none_until_the_range_is_named(tmp_path: Path, store: Store) -> None:
    path = zipped(tmp_path / "a.eval", {"scores": {"quality": {"value": 7}}})
    (verdict,) = only(path, store, run_id="one").run.verdicts()
    assert isinstance(verdict.result, Unscored)
    assert "--scale quality=LOW:HIGH" in str(verdict.result.reason)
    run = only(path, store, run_id="two", how=LogReading(scales={"quality": (1, 10)})).run
    assert run.estimate("score").value == pytest.approx(6 / 9)


def test_a_rating_of_one_is_no_full_mark_where_others_are_outside(tmp_path: Path, store: Store) -> None:
    ratings = [{"id": f"s{value}", "scores": {"quality": {"value": value}}} for value in (1, 7)]
    path = zipped(tmp_path / "a.eval", *ratings)
    results = [one.result for one in only(path, store, run_id="one").run.verdicts()]
    assert {type(result) for result in results} == {Unscored}
    assert all("--scale quality=LOW:HIGH" in str(result.reason) for result in results)
    run = only(path, store, run_id="two", how=LogReading(scales={"quality": (1, 6)})).run
    assert [one.result.value for one in run.verdicts() if isinstance(one.result, Score)] == [0]


def test_a_scorer_with_the_name_of_one_of_ours_keeps_its_verdicts_when_ours_is_added(
    tmp_path: Path, store: Store
) -> None:
    path = zipped(tmp_path / "a.eval", {"scores": {"exact": {"value": "I"}}, "output": said("4")})
    run = rescore(only(path, store).run, scorers=["exact"])
    assert {
        verdict.scorer: verdict.result.value for verdict in run.verdicts() if isinstance(verdict.result, Score)
    } == {
        "exact@inspect": 0,
        "exact": 1,
    }


def said(text: str) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text}}]}


@pytest.mark.parametrize(
    ("samples", "what"),
    [
        ([{"id": "a"}, {"id": "a"}], "twice"),
        ([{"epoch": 0}], "attempt 0"),
        ([{"epoch": 10**9}], "attempt 1000000000"),
        ([{"id": "x" * 2_000}], "2000 characters"),
        ([{"id": ""}], "0 characters"),
        ([{"messages": "text"}], "messages"),
        ([{"scores": {f"s{n}": {"value": 1} for n in range(4)}}], "more than 3 "),
        ([], "no sample"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(
    samples: list[dict[str, Any]], what: str, tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MOST_SCORERS", 3)
    with pytest.raises(BadInput, match=what):
        import_log(zipped(tmp_path / "a.eval", *samples), store=store)
    assert store.runs() == []


def test_names_that_leave_their_folder_and_control_characters_are_only_names(tmp_path: Path, store: Store) -> None:
    content = [{"type": "image", "image": "../../etc/passwd"}, {"type": "text", "text": "\x1b[2J"}]
    asked = [{"role": "user", "content": content}]
    path = zipped(
        tmp_path / "a.eval", {"id": "../../up\x1b", "input": asked}, **{"samples/../../../out_epoch_1.json": "{}"}
    )
    with pytest.raises(BadInput, match="'id' is missing"):
        import_log(path, store=store)
    run = only(zipped(tmp_path / "b.eval", {"id": "../../up\x1b", "input": asked}), store).run
    (sample,) = run.store.planned(run.id)
    (image, _) = sample.turns[0].messages[0].parts
    assert (sample.id, getattr(image, "name"), getattr(image, "path")) == ("../../up\x1b", "passwd", None)  # noqa: B009


def test_a_zip_bomb_stops_at_the_bound(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_source, "MOST_RECORD_BYTES", 1_000_000)
    path = zipped(tmp_path / "bomb.eval", {"input": "0" * 3_000_000})
    with pytest.raises(BadInput, match="larger than"):
        import_log(path, store=store)
    monkeypatch.setattr(_source, "MOST_RECORD_BYTES", 10_000_000)
    monkeypatch.setattr(_source, "LEAST_ALLOWED_BYTES", 1)
    with pytest.raises(BadInput, match="unpacks to more than"):
        import_log(path, store=store)


def test_damaged_members_and_deep_values_are_named(tmp_path: Path, store: Store) -> None:
    deep = zipped(tmp_path / "deep.eval", **{"samples/a_epoch_1.json": '{"id": 1, "metadata": ' + '{"a":' * 90_000})
    with pytest.raises(BadInput, match=r"samples/a_epoch_1\.json"):
        import_log(deep, store=store)
    path = tmp_path / "cut.eval"
    path.write_bytes((LOGS / "inspect.eval").read_bytes()[:9_000])
    with pytest.raises(BadInput, match="no whole zip"):
        import_log(path, store=store)
    data = bytearray((LOGS / "inspect.eval").read_bytes())
    data[3_000:3_100] = bytes(100)
    path.write_bytes(data)
    with pytest.raises(BadInput):
        import_log(path, store=store)
    assert store.runs() == []


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_members_damaged_in_any_way_of_packing_are_unreadable(method: int, tmp_path: Path, store: Store) -> None:
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr("header.json", json.dumps(HEADER))
        file.writestr(name := "samples/a_epoch_1.json", json.dumps(SAMPLE))
    data = bytearray(path.read_bytes())
    start = data.index(name.encode()) + len(name) + 15
    data[start : start + 20] = b"\xff" * 20
    path.write_bytes(data)
    with pytest.raises(BadInput, match="cannot be read"):
        import_log(path, store=store)


def test_a_member_that_begins_beyond_the_file_is_unreadable(tmp_path: Path, store: Store) -> None:
    path = zipped(tmp_path / "a.eval", {})
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"samples/0_epoch_1.json") - 46  # of the central directory
    struct.pack_into("<H", data, entry + 10, _source.ZSTANDARD)
    struct.pack_into("<I", data, entry + 42, len(data))
    path.write_bytes(data)
    with pytest.raises(BadInput):
        import_log(path, store=store)


@pytest.mark.parametrize(
    "wrong",
    [{"output": {"choices": 5}}, {"output": {"choices": ["x"]}}, {"output": {"choices": [{"message": 1}]}}],
)
def test_parts_of_another_kind_are_passed_over(wrong: dict[str, Any], tmp_path: Path, store: Store) -> None:
    header = json.dumps({**HEADER, "results": {"scores": 5}})
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.json", header)
        file.writestr("samples/a_epoch_1.json", json.dumps({**SAMPLE, **wrong}))
    assert only(path, store).run.outcomes == {"scored": 1}


def test_a_name_that_no_file_can_have_is_no_traceback(store: Store) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        import_log("a" * 300, store=store)


def test_a_range_goes_from_one_number_to_a_higher_one() -> None:
    for wrong in ((1, 1), (2, 1), (float("nan"), 1), (-1.7e308, 1.7e308)):
        with pytest.raises(BadInput, match="that of 'f1' does not"):
            LogReading(scales={"f1": wrong})


def test_a_file_that_is_no_log_is_refused_with_the_known_formats(tmp_path: Path, store: Store) -> None:
    (tmp_path / "x.json").write_text('{"a": 1}')
    with pytest.raises(BadInput, match=r"no log that is known.*inspect"):
        import_log(tmp_path / "x.json", store=store)
    with pytest.raises(BadInput, match="There is no file"):
        import_log(tmp_path / "y.json", store=store)


def test_an_import_that_was_killed_half_way_is_replaced(store: Store) -> None:
    import asyncio

    from msgspec.structs import replace

    record = only(LOGS / "inspect.eval", store, run_id="r").run.record

    async def half() -> None:
        await store.begin(replace(record, state="copying"))
        await store.end(replace(record, state="copying"))

    asyncio.run(half())
    assert only(LOGS / "inspect.eval", store, run_id="r").run.outcomes["scored"] == 6


def test_numbers_of_others_are_finite_or_none() -> None:
    values: list[object] = ["1e999", "-inf", [], "0" * 50, 2]
    assert [number(one) for one in values] == [None, None, None, None, 2.0]


def test_a_log_of_more_attempts_than_can_be_is_refused(tmp_path: Path, store: Store) -> None:
    header = {**HEADER, "eval": {**HEADER["eval"], "config": {"epochs": 10**9}}}  # type: ignore[dict-item]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**header, "samples": [SAMPLE]}))
    with pytest.raises(BadInput, match="1000000000 attempts"):
        only(path, store)
    assert not store.runs()


def test_keys_in_options_and_errors_of_a_log_are_not_taken_over(tmp_path: Path) -> None:
    options: Any = {"api_key": "hunter2-hunter2", "args": ["model=x,api_key=hunter2-hunter2"]}
    for _ in range(100):
        options = {"grader": options}
    error = {"message": "Incorrect API key: sk-hunter2-hunter2"}
    about = {"task": "t", "model": "m", "task_args": {"token": "hunter2-hunter2", "level": "hard", "deep": options}}
    scored = {"match": {"value": None, "explanation": "401 for sk-hunter2-hunter2"}}
    samples = [{"id": 1, "error": error}, {"id": 2, "scores": scored}]
    value = {"version": 2, "status": "error", "error": error, "eval": about, "samples": samples}
    (tmp_path / "a.json").write_text(json.dumps(value))
    store = open_store(str(tmp_path / "s.db"))
    run = only(tmp_path / "a.json", store).run
    assert run.record.provenance["task_args"]["level"] == "hard"
    failures = [trial.failure.reason for trial in store.trials(run.id) if trial.failure is not None]
    reasons = [verdict.result.reason for verdict in store.verdicts(run.id)]
    shown = f"{run.record.provenance} {run.record.note} {failures} {reasons}"
    assert shown.count("[hidden]") == 6
    assert "hunter2" not in shown
