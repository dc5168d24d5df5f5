"""Logs of lm-evaluation-harness, promptfoo, DeepEval, LangSmith, Langfuse and Phoenix are runs with the scores of the log."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from proctor.api import compare
from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.score import Score, Unscored
from proctor.core.task import Store
from proctor.datasets.formats import CELL_CHARACTERS
from proctor.reports.build import build
from proctor.reports.terminal import terminal
from proctor.stores import open_store
from proctor_adapters.importing import import_log, unused
from proctor_adapters.imports import LogReading, keeping

LOGS = Path(__file__).parents[1] / "data" / "imports"
TIME = "2026-11-23T11-47-45.212176"


@pytest.fixture
def store() -> Store:
    return open_store(":memory:")


def verdicts(run: Run) -> dict[str, dict[str, float | str]]:
    """Return the value of each scorer, or why there is none, by sample; of the first attempt."""
    found: dict[str, dict[str, float | str]] = {}
    for one in run.verdicts():
        if one.attempt == 0:
            value = one.result.value if isinstance(one.result, Score) else one.result.why
            found.setdefault(one.sample_id, {})[one.scorer] = value
    return found


def of(value: Any, path: Path, store: Store, **given: Any) -> Run:
    path.write_text(json.dumps(value))
    (found,) = import_log(path, store=store, **given)
    return found.run


def test_lm_eval_generations_have_a_scorer_for_each_filter(store: Store) -> None:
    (found,) = import_log(LOGS / f"samples_tiny_gen_{TIME}.jsonl", store=store, how=LogReading(tags=("level",)))
    run = found.run
    assert (run.record.task, run.record.task_version, run.record.agent) == ("tiny_gen", "2.0", "dummy:i82qcls7")
    assert verdicts(run) == {id: {"exact_match,strict": 0, "exact_match,loose": 0} for id in "01"}
    assert [one.is_equal for one in found.figures] == [True, True]
    sample = run.store.sample(run.id, "1")
    assert sample is not None
    assert (sample.question, sample.target, dict(sample.tags)) == (
        "Q: Capital of France\nA:",
        "Paris",
        {"level": "hard"},
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda lines: lines[1:], r"gen\.jsonl, line 2: the filter 'loose' has the sample '0', .* first filter"),
        (lambda lines: [*lines, lines[3]], r"gen\.jsonl, line 5: the filter 'loose' has the sample '1' a second time"),
        (lambda lines: [lines[0], *lines], r"gen\.jsonl, line 2: the filter 'strict' has the sample '0' a second time"),
    ],
)
def test_lm_eval_lines_that_do_not_go_together_are_named(
    changed: Callable[[list[str]], list[str]], message: str, tmp_path: Path, store: Store
) -> None:
    lines = (LOGS / f"samples_tiny_gen_{TIME}.jsonl").read_text().splitlines()
    path = tmp_path / "gen.jsonl"
    path.write_text("\n".join(changed(lines)))
    with pytest.raises(BadInput, match=message):
        import_log(path, store=store)
    assert not store.runs()


def test_lm_eval_choices_are_options_and_the_most_likely_one_is_the_answer(store: Store) -> None:
    (found,) = import_log(LOGS / f"samples_tiny_mc_{TIME}.jsonl", store=store)
    (first, second) = found.run.store.trials(found.run.id)
    assert (first.trajectory.answer, second.trajectory.answer) == ("blue", "white")
    sample = found.run.store.sample(found.run.id, "0")
    assert sample is not None
    assert (list(sample.known.options), sample.target) == (["blue", "green"], "blue")
    assert [(one.metric, one.log, one.is_equal) for one in found.figures] == [("acc", 1, True), ("acc_norm", 1, True)]


def test_lm_eval_samples_without_their_results_say_that_the_model_is_not_known(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "gen.jsonl"
    path.write_bytes((LOGS / f"samples_tiny_gen_{TIME}.jsonl").read_bytes())
    (found,) = import_log(path, store=store)
    assert "--agent" in str(found.run.record.warnings[0])
    with pytest.raises(BadInput, match="holds no samples"):
        import_log(LOGS / f"results_{TIME}.json", format="lm_eval", store=store)


@pytest.mark.parametrize("name", ["promptfoo.json", "promptfoo.jsonl"])
def test_promptfoo_has_a_run_for_each_provider_and_an_error_of_one_is_no_zero(name: str, store: Store) -> None:
    echo, mine = import_log(LOGS / name, store=store, run_id="r", how=LogReading(task="tiny"))
    assert (echo.run.id, mine.run.id, mine.run.record.agent) == ("r-echo", "r-mine", "mine")
    assert mine.run.outcomes == {"scored": 4, "provider_failed": 2}
    assert mine.run.record.spec.attempts == 2
    assert verdicts(mine.run)["1"] == {"promptfoo": 0.85, "right": 1, "javascript": 0.7}
    assert mine.run.usage.output_tokens == 8
    assert all(one.is_equal for one in (*echo.figures, *mine.figures))
    (row,) = [one for one in compare(echo.run, mine.run).rows if one.metric.startswith("right") and not one.slice]
    assert row.difference.value == 1


def test_deepeval_keeps_thresholds_calls_and_what_a_judge_could_not_say(store: Store) -> None:
    (found,) = import_log(LOGS / "deepeval.json", store=store)
    run = found.run
    assert (run.record.agent, verdicts(run)["test_case_2"]) == ("gpt-x", {"Same": "scorer_failed"})
    (same,) = [one.result for one in run.verdicts() if one.sample_id == "test_case_1"]
    assert isinstance(same, Score)
    assert (same.value, same.passed, same.reason) == (0.25, False, "compared")
    (trial,) = run.store.trials(run.id, sample_id="sum")
    assert [call.arguments for call in trial.trajectory.calls()] == [{"x": 2, "y": 2}]
    assert (trial.trajectory.answer, trial.usage.cost, trial.seconds) == ("4", 0.01, 1.5)


def test_deepeval_conversations_have_the_turns_of_the_user(store: Store) -> None:
    (found,) = import_log(LOGS / "deepeval_latest.json", store=store)
    (trial,) = found.run.store.trials(found.run.id)
    assert [(step.turn, step.author, step.message.text) for step in trial.trajectory.steps] == [
        (0, "agent", "Hello!"),
        (1, "user", "Bye"),
        (1, "agent", "Goodbye"),
    ]


@pytest.mark.parametrize("name", ["langsmith.json", "langsmith.csv"])
def test_langsmith_rows_and_table_are_the_same_run(name: str, store: Store) -> None:
    (found,) = import_log(LOGS / name, store=store)
    run = found.run
    assert run.outcomes == {"scored": 2, "environment_failed": 1}
    ids = [sample.id for sample in run.store.planned(run.id)]
    assert verdicts(run)[ids[0]] == {"exact@langsmith": 1, "tone": "not_applicable"}
    assert verdicts(run)[ids[1]] == {"exact@langsmith": 0, "tone": "not_applicable"}
    sample = run.store.sample(run.id, ids[1])
    assert sample is not None
    assert (sample.question, sample.target) == ("Capital of France?", "Paris")


TRACE = {
    "id": "t1",
    "timestamp": "2026-01-01T00:00:00Z",
    "name": "answer",
    "input": {"messages": [{"role": "user", "content": "2+2?"}]},
    "output": {"role": "assistant", "content": "4"},
    "metadata": {"expected_output": "4", "level": "easy"},
    "latency": 1.5,
    "totalCost": 0.01,
    "scores": [
        {"name": "correct", "value": 1, "dataType": "BOOLEAN", "stringValue": "True", "comment": "right"},
        {"name": "tone", "value": 0, "dataType": "CATEGORICAL", "stringValue": "friendly"},
    ],
    "observations": [{"level": "DEFAULT", "usageDetails": {"input": 9, "output": 2}}],
}


@pytest.mark.parametrize("form", ["trace", "list", "page", "download"])
def test_langfuse_traces_are_read_in_each_of_their_forms(form: str, tmp_path: Path, store: Store) -> None:
    forms = {
        "trace": TRACE,
        "list": [TRACE],
        "page": {"data": [TRACE], "meta": {"page": 1}},
        "download": {
            "trace": {k: v for k, v in TRACE.items() if k != "observations"},
            "observations": TRACE["observations"],
        },
    }
    run = of(forms[form], tmp_path / "shop.json", store, how=LogReading(tags=("level",)))
    (trial,) = run.store.trials(run.id)
    assert (trial.trajectory.answer, trial.usage.input_tokens, trial.usage.cost, trial.seconds) == ("4", 9, 0.01, 1.5)
    assert verdicts(run) == {"t1": {"correct": 1, "tone": "not_applicable"}}
    sample = run.store.sample(run.id, "t1")
    assert sample is not None
    assert (sample.question, sample.target, dict(sample.tags)) == ("2+2?", "4", {"level": "easy"})


def test_langfuse_lines_of_a_table_have_their_scores_by_name(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "traces.jsonl"
    lines = [{**TRACE, "id": str(n), "scores": {"correct": [n]}} for n in range(2)]
    path.write_text("\n".join(map(json.dumps, lines)))
    (found,) = import_log(path, store=store)
    assert verdicts(found.run) == {"0": {"correct": 0}, "1": {"correct": 1}}


def test_phoenix_repetitions_are_attempts_and_annotations_scores(tmp_path: Path, store: Store) -> None:
    record = {
        "example_id": "RGF0",
        "repetition_number": 1,
        "input": {"question": "2+2?"},
        "reference_output": {"answer": "4"},
        "output": "4",
        "error": None,
        "latency_ms": 500.0,
        "start_time": "2026-01-01T00:00:00+00:00",
        "prompt_token_count": 7,
        "completion_token_count": 1,
        "annotations": [
            {
                "name": "right",
                "annotator_kind": "CODE",
                "label": "yes",
                "score": 1.0,
                "explanation": "same",
                "error": None,
            },
            {
                "name": "judge",
                "annotator_kind": "LLM",
                "label": None,
                "score": None,
                "explanation": None,
                "error": "timeout",
            },
        ],
    }
    again = {**record, "repetition_number": 2, "output": None, "error": "the tool died", "annotations": []}
    run = of([record, again], tmp_path / "experiment.json", store)
    assert run.outcomes == {"scored": 1, "environment_failed": 1}
    assert verdicts(run) == {"RGF0": {"right": 1, "judge": "scorer_failed"}}
    results = {one.scorer: one.result for one in run.verdicts()}
    judge = results["judge"]
    assert isinstance(judge, Unscored)
    assert judge.reason == "timeout"


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("lm_eval", '{"doc_id": 0, "doc": {}, "filtered_resps": [], "metrics": ["m"], "m": NaN}'),
        ("promptfoo", '{"promptIdx": 0, "testCase": {}, "success": true, "score": 1e300, "vars": {"a": "\\u001b[2J"}}'),
        ("langsmith", '[{"run": {}, "example": {"id": "../../x"}, "evaluation_results": {"results": [{"key": "\\u001b", "score": NaN}]}}]'),
        ("phoenix", '[{"example_id": "a", "repetition_number": 1, "annotations": [{"name": "n", "score": Infinity}]}]'),
    ],
)  # fmt: skip
def test_values_that_are_no_numbers_are_unscored_in_every_format(
    format: str, text: str, tmp_path: Path, store: Store
) -> None:
    path = tmp_path / ("log.json" if text.startswith("[") else "log.jsonl")
    path.write_text(text)
    (found,) = import_log(path, store=store)
    assert found.format == format
    assert all(isinstance(one.result, Unscored) for one in found.run.verdicts())


@pytest.mark.parametrize(
    "format", ["deepeval", "inspect", "langfuse", "langsmith", "lm_eval", "matrix", "phoenix", "promptfoo"]
)
@pytest.mark.parametrize("text", ["", "[]", "{}", "[1]", '{"a":' * 50_000, "\x00\xff", '[{"id": 1}]'])
def test_what_is_no_log_of_a_format_is_refused_and_leaves_nothing(
    format: str, text: str, tmp_path: Path, store: Store
) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(BadInput):
        import_log(path, format=format, store=store)
    assert store.runs() == []


def test_lines_are_known_though_the_first_holds_what_only_python_reads(tmp_path: Path, store: Store) -> None:
    line = {"doc_id": 0, "doc": {"x": float("nan")}, "filtered_resps": ["\ud83d"], "metrics": ["m"], "m": 1.0}
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps({**line, "doc_id": number}) for number in range(3)))
    (found,) = import_log(path, store=store)
    assert (found.format, found.run.outcomes) == ("lm_eval", {"scored": 3})


def test_a_table_has_fields_of_megabytes_but_not_of_any_size(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "x.csv"
    for characters in (200_000, CELL_CHARACTERS + 1):
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([["inputs.q", "feedback.a", "example_id"], ["q" * characters, "1", "a"]])
        if characters > CELL_CHARACTERS:
            with pytest.raises(BadInput, match="cannot be read"):
                import_log(path, store=store)
        else:
            (found,) = import_log(path, store=store)
            assert verdicts(found.run) == {"a": {"a": 1}}


def test_deepeval_cases_of_one_name_are_attempts_where_they_ask_the_same(tmp_path: Path, store: Store) -> None:
    metrics = [{"name": "M", "score": 1.0, "success": True}, {"name": "M", "score": 0.0, "success": False}]
    cases = [{"name": "a", "input": text, "actualOutput": "x", "metricsData": metrics} for text in "XYXY"]
    run = of({"testCases": cases, "metricsScores": []}, tmp_path / "run.json", store)
    assert [(one.sample_id, one.attempt) for one in run.store.trials(run.id)] == [
        ("a", 0),
        ("a", 1),
        ("a (1)", 0),
        ("a (1)", 1),
    ]
    assert run.record.planned == 4
    assert verdicts(run)["a"] == {"M": 1, "M 2": 0}


def test_scores_of_one_name_are_all_kept(tmp_path: Path, store: Store) -> None:
    trace = {**TRACE, "scores": [{"name": "by a user", "value": value} for value in (1, 0)]}
    assert verdicts(of([trace], tmp_path / "traces.json", store))["t1"] == {"by a user": 1, "by a user 2": 0}


@pytest.mark.parametrize("time", [1e300, "0001-01-01T00:00:00Z"])
def test_times_that_no_date_can_hold_are_not_known(time: object, tmp_path: Path, store: Store) -> None:
    run = of([{**TRACE, "timestamp": time, "latency": 1e300}], tmp_path / "t.json", store)
    (trial,) = run.store.trials(run.id)
    assert (trial.started, trial.seconds) == (0.0, 0.0)


def test_a_table_with_more_cells_than_columns_is_known_or_refused(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "t.csv"
    path.write_text("example_id,output\n1,2,3\n")
    with pytest.raises(BadInput, match="is no log"):
        import_log(path, store=store)


def test_a_file_of_several_runs_is_completed_after_a_kill(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = iter([True, False])

    async def killed(*given: Any, **named: Any) -> RunRecord:
        if next(calls):
            return await keeping.keep(*given, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("proctor_adapters.importing.keep", killed)
        with pytest.raises(KeyboardInterrupt):
            import_log(LOGS / "promptfoo.json", store=store, run_id="r")
    assert [one.run.id for one in import_log(LOGS / "promptfoo.json", store=store, run_id="r")] == ["r-echo", "r-mine"]
    with pytest.raises(BadInput, match="already"):
        import_log(LOGS / "promptfoo.json", store=store, run_id="r")


def test_a_folder_an_empty_file_and_a_table_of_results_are_refused_each_in_its_own_words(
    tmp_path: Path, store: Store
) -> None:
    (tmp_path / "empty.jsonl").touch()
    for path, words in (
        (tmp_path, "is a folder, not a log"),
        (tmp_path / "empty.jsonl", "is empty"),
        (LOGS / f"results_{TIME}.json", "holds no samples.*--log_samples"),
    ):
        with pytest.raises(BadInput, match=words):
            import_log(path, store=store)


def test_names_that_the_log_does_not_have_are_reported(store: Store) -> None:
    how = LogReading(scales={"parts.lenght": (0, 10), "parts.length": (0, 10)}, tags=("nokey",))
    scale, tag = unused(import_log(LOGS / "inspect.eval", store=store, how=how), how)
    assert "'parts.lenght' for --scale. Did you mean 'parts.length'" in str(scale)
    assert "'nokey'" in str(tag)
    how = LogReading(tags=("level",))
    found = import_log(LOGS / f"samples_tiny_gen_{TIME}.jsonl", store=store, how=how)
    assert unused(found, how) == []


def test_a_scorer_of_ours_is_none_of_the_log_s_scores(store: Store) -> None:
    how = LogReading(scales={"exact": (0, 10)})
    found = import_log(LOGS / f"samples_tiny_gen_{TIME}.jsonl", store=store, how=how, scorers=["exact"])
    (sentence,) = map(str, unused(found, how))
    assert "has no score 'exact'" in sentence
    assert sentence.endswith(" Known: exact_match,strict, exact_match,loose.")


def test_times_that_a_log_does_not_have_are_not_shown_as_zero(store: Store) -> None:
    (found,) = import_log(LOGS / f"samples_tiny_gen_{TIME}.jsonl", store=store)
    built = build(found.run.record, store, found.run.estimates)
    shown = Console(record=True, width=80, file=io.StringIO())
    terminal(built, "en", shown)
    assert "0 requests" in shown.export_text()
    assert "a sample took" not in shown.export_text()


def test_scorers_with_an_at_sign_have_their_figures_and_ranges(tmp_path: Path, store: Store) -> None:
    line = {"doc_id": 0, "doc": {}, "filtered_resps": ["x"], "filter": "none", "metrics": ["pass@1", "pass@5"]}
    path = tmp_path / f"samples_code_{TIME}.jsonl"
    path.write_text(json.dumps({**line, "pass@1": 0, "pass@5": 5}))
    results = {"results": {"code": {"pass@1,none": 0.0, "pass@5,none": 5.0}}, "lm_eval_version": "0.4.13"}
    (tmp_path / f"results_{TIME}.json").write_text(json.dumps(results))
    how = LogReading(scales={"pass@5": (0, 10)})
    found = import_log(path, store=store, how=how)
    assert [(one.scorer, one.is_equal) for one in found[0].figures] == [("pass@1", True), ("pass@5", True)]
    assert unused(found, how) == []


@pytest.mark.parametrize("name", ["results", "results.JSON", "results.txt"])
def test_a_document_in_one_line_is_no_line_of_several(name: str, tmp_path: Path, store: Store) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(json.loads((LOGS / "promptfoo.json").read_text())))
    agents = [one.run.record.agent for one in import_log(LOGS / "promptfoo.json", store=store, run_id="known")]
    assert [one.run.record.agent for one in import_log(path, store=store)] == agents


def test_one_row_need_not_be_in_a_list(tmp_path: Path, store: Store) -> None:
    row = json.loads((LOGS / "langsmith.json").read_text())[0]
    assert of(row, tmp_path / "row.json", store).record.planned == 1


@pytest.mark.parametrize(
    "wrong",
    [{"promptIdx": -5}, {"testCase": {"assert": 5}}, {"gradingResult": {"componentResults": 5}}],
)
def test_promptfoo_parts_of_another_kind_are_passed_over(wrong: dict[str, Any], tmp_path: Path, store: Store) -> None:
    result = {"promptIdx": 0, "testCase": {}, "success": True, "score": 1} | wrong
    value = {
        "evalId": "e",
        "results": {"results": [result], "prompts": [{"metrics": {"score": 9, "testPassCount": 1}}]},
    }
    assert verdicts(of(value, tmp_path / "a.json", store)) == {"0": {"promptfoo": 1}}


def test_runs_of_one_file_have_different_names(tmp_path: Path, store: Store) -> None:
    labels = ("a", "a!", "a 2")
    results = [
        {"promptIdx": n, "provider": label, "testCase": {}, "success": True, "score": 1}
        for n, label in enumerate(labels)
    ]
    (tmp_path / "a.json").write_text(json.dumps({"evalId": "e", "results": {"results": results}}))
    found = import_log(tmp_path / "a.json", store=store, run_id="x")
    assert [one.run.id for one in found] == ["x-a", "x-a-2", "x-a-2-3"]


def test_lm_eval_lines_of_ever_new_filters_are_refused(tmp_path: Path, store: Store) -> None:
    line = {"doc_id": 0, "doc": {}, "filtered_resps": ["x"], "metrics": []}
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps({**line, "filter": str(n)}) for n in range(300)))
    with pytest.raises(BadInput, match="more than 200 different filters"):
        import_log(tmp_path / "a.jsonl", store=store)
