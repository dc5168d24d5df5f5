"""The data-generation half of chapter 12: its calls, result keys and files, with right values where the source is wrong."""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from writers import data_file, item, text

from proctor.core.errors import AgentFailed, BadInput
from proctor_compat import hello_agents
from proctor_compat.hello_agents import (
    AIDataset,
    AIMEGenerator,
    EvaluationConfig,
    HumanVerificationUI,
    LLMJudgeEvaluator,
    LLMJudgeTool,
    UniversalDataset,
    UniversalLLMJudgeEvaluator,
    UniversalWinRateEvaluator,
    WinRateEvaluator,
    WinRateTool,
    generate_comprehensive_report,
    run_complete_evaluation,
)

DIMENSIONS = ("correctness", "clarity", "difficulty_match", "completeness")
FINE = json.dumps({**dict.fromkeys(DIMENSIONS, 4), "comments": "fine"})


class Llm:
    """An llm as the source knows them: `invoke(messages) -> str`, and a model's name."""

    model = "scripted-llm"

    def __init__(self, reply: str | Callable[[str], str]) -> None:
        self.prompts: list[str] = []
        self._reply = reply

    def invoke(self, messages: Sequence[Mapping[str, str]], **kwargs: Any) -> str:
        self.prompts.append(messages[-1]["content"])
        return self._reply if isinstance(self._reply, str) else self._reply(self.prompts[-1])


class Everything:
    """Writes, judges and compares, as one llm does in the source's whole flow."""

    def __init__(self, first: int = 0, bad: Sequence[str] = ()) -> None:
        self.number = first
        self.bad = list(bad)

    def __call__(self, prompt: str) -> str:
        if '"winner"' in prompt:
            return '```json\n{"winner": "Tie", "reason": "alike"}\n```'
        if '"correctness"' in prompt:
            return FINE
        if self.bad:
            return self.bad.pop(0)
        self.number += 1
        return f"```json\n{json.dumps(item(self.number))}\n```"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))


def real(count: int = 8) -> str:
    made = [{"id": f"real_{seed}", "problem": text(1000 + seed), "answer": str(seed)} for seed in range(count)]
    return str(data_file(Path("real.json"), made))


def generated(count: int = 4) -> str:
    return str(data_file(Path("mine.json"), [{"id": f"gen_aime_{seed + 1}", **item(seed)} for seed in range(count)]))


def test_every_name_of_the_source_is_there() -> None:
    names = (
        AIDataset,
        LLMJudgeEvaluator,
        WinRateEvaluator,
        LLMJudgeTool,
        WinRateTool,
        AIMEGenerator,
        HumanVerificationUI,
    )
    universal = (EvaluationConfig, UniversalDataset, UniversalLLMJudgeEvaluator, UniversalWinRateEvaluator)
    for name in (one.__name__ for one in (*names, *universal, run_complete_evaluation)):
        assert name in dir(hello_agents)
        assert callable(getattr(hello_agents, name))


# Data


def test_generated_data_has_one_form_whatever_its_columns_are_called() -> None:
    rows = [
        {"id": "a", "question": "Why?", "answer": 3, "reasoning": "So.", "category": "Algebra", "difficulty": 7},
        {"problem": "How?", "answer": 5, "solution": None},
    ]
    dataset = AIDataset(dataset_type="generated", data_path=str(data_file(Path("d.json"), rows)))
    problems = dataset.load()
    assert problems == dataset.problems
    assert (len(dataset), dataset[0]["problem_id"], dataset[1]["problem_id"]) == (2, "a", "gen_1")
    assert dataset[0]["problem"] == "Why?"
    assert dataset[1]["solution"] == "", "a solution of null is none, and breaks nothing"
    assert dataset.get_problem("a") == dataset[0]
    assert dataset.get_problem("z") is None
    assert dataset.get_problems_by_topic("Algebra") == [dataset[0]]
    assert dataset.get_problems_by_difficulty(6, 8) == [dataset[0]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: AIDataset("other"),
        lambda: AIDataset("generated").load(),
        lambda: AIDataset("generated", "none.json").load(),
        lambda: AIDataset("generated", str(data_file(Path("e.json"), []))).load(),
        lambda: AIDataset("generated", str(data_file(Path("t.json"), [{"id": 1, "problem": "x"}] * 2))).load(),
        lambda: AIDataset("real", year=2024).load(),
    ],
)
def test_data_that_cannot_be_had_is_an_error(make: Callable[[], Any]) -> None:
    with pytest.raises(BadInput):
        make()


def test_a_year_is_the_year_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"Year": 2023, "Problem": "Old?", "Answer": 1}, {"Year": 2024, "Problem": "New?", "Answer": 2}]
    asked: list[str] = []

    def located(name: str, folder: Path | None) -> tuple[Path, dict[str, str]]:
        asked.append(name)
        return data_file(Path("all.json"), rows), {}

    monkeypatch.setattr("proctor_compat.hello_agents.ai_dataset.located", located)
    assert [one["problem"] for one in AIDataset("real", year=2024).load()] == ["New?"]
    assert asked == ["aime-1983-2025"], "not the set of 2025"
    with pytest.raises(BadInput, match="1999"):
        AIDataset("real", year=1999).load()
    AIDataset("real").load()
    assert asked[-1] == "aime25"


# Judge


def test_one_problem_is_judged_with_the_keys_of_the_source() -> None:
    llm = Llm(
        '```json\n{"correctness": 5, "clarity": 4, "difficulty_match": 4, "completeness": 5, "comments": "$\\frac12$"}\n```'
    )
    judge = LLMJudgeEvaluator(llm=llm)
    result = judge.evaluate_single(
        {"problem_id": "generated_001", "problem": "Find $n$.", "answer": "4", "solution": "Let"}
    )
    assert list(result) == ["problem_id", "scores", "total_score", "evaluation_text", "execution_time"]
    assert result["scores"] == {"correctness": 5, "clarity": 4, "difficulty_match": 4, "completeness": 5}
    assert list(result["scores"]) == list(DIMENSIONS)
    assert result["total_score"] == 4.5
    assert "frac" in result["evaluation_text"]
    assert judge.judge_model == "scripted-llm", "the model that was asked, not gpt-4o"


@pytest.mark.parametrize(
    "reply",
    [
        "not json",
        '{"correctness": 50, "clarity": 4, "difficulty_match": 4, "completeness": 5}',
        '{"correctness": 5, "clarity": -3, "difficulty_match": 4, "completeness": 5}',
        '{"correctness": 5, "clarity": 4, "difficulty_match": 4}',
        '{"correctness": null, "clarity": 4, "difficulty_match": 4, "completeness": 5}',
        "",
    ],
)
def test_a_judgement_that_cannot_be_read_is_no_three(reply: str) -> None:
    result = LLMJudgeEvaluator(llm=Llm(reply)).evaluate_single({"problem_id": "x", "problem": "Find n."})
    assert result["total_score"] is None
    assert result["scores"] == {}
    assert result["error"]


@pytest.mark.parametrize("reply", [f"Here you go: {FINE}", f"```JSON\n{FINE}\n```", FINE.replace("4", '"4/5"')])
def test_what_the_source_could_not_read_is_read(reply: str) -> None:
    assert LLMJudgeEvaluator(llm=Llm(reply)).evaluate_single({"problem": "Find n."})["total_score"] == 4


def test_a_batch_has_the_metrics_of_the_source_over_what_was_judged() -> None:
    llm = Llm(lambda prompt: "no" if "mute" in prompt else FINE.replace("4", "5") if "great" in prompt else FINE)
    problems = [{"problem_id": name, "problem": f"A {name} problem"} for name in ("great", "fair", "mute")]
    judge = LLMJudgeEvaluator(llm=llm)
    results = judge.evaluate_batch(problems)
    assert {"results", "metrics", "evaluation_date", "judge_model", "num_problems"} <= results.keys()
    metrics = results["metrics"]
    assert metrics["average_total_score"] == 4.5
    assert metrics["dimension_averages"] == dict.fromkeys(DIMENSIONS, 4.5)
    assert (metrics["pass_rate"], metrics["excellent_rate"]) == (1.0, 0.5)
    assert (metrics["judged"], metrics["judge_failed"]) == (2, 1)
    assert [one["problem_id"] for one in results["results"]] == ["great", "fair", "mute"]
    assert results["results"][2]["error"]
    assert metrics["intervals"]["pass_rate"][0] < 0.5
    assert judge.evaluate_batch(problems, max_samples=2)["num_problems"] == 2
    judge.export_results(results, "deep/er/results.json")
    assert json.loads(Path("deep/er/results.json").read_text())["metrics"]["judged"] == 2


def test_references_are_examples_and_not_paired_by_place() -> None:
    llm = Llm(FINE)
    references = [{"problem_id": f"r{place}", "problem": f"Reference {place}"} for place in range(9)]
    LLMJudgeEvaluator(llm=llm).evaluate_batch([{"id": str(n), "problem": f"Mine {n}"} for n in range(12)], references)
    shown = {place for place in range(9) for prompt in llm.prompts if f"Reference {place}" in prompt}
    assert len(shown) >= 7


def test_no_problems_are_no_numbers() -> None:
    results = LLMJudgeEvaluator(llm=Llm(FINE)).evaluate_batch([])
    assert results["num_problems"] == 0
    assert results["metrics"]["average_total_score"] is None


# Win rate


@pytest.mark.parametrize(
    ("said", "winner"),
    [('"A"', "Tie"), ('"Problem B"', "Tie"), ('"Tie"', "Tie"), ('"problem a"', "Tie")],
    ids=["A", "B", "Tie", "a"],
)
def test_who_always_names_the_same_place_decides_nothing(said: str, winner: str) -> None:
    llm = Llm(f'```json\n{{"winner": {said}, // or another\n"reason": "because"}}\n```')
    found = WinRateEvaluator(llm).compare_pair({"problem_id": "a", "problem": "x"}, {"problem_id": "b", "problem": "y"})
    assert found["winner"] == winner
    assert {"problem_a_id", "problem_b_id", "winner", "reason", "comparison_text", "execution_time"} <= found.keys()
    assert len(llm.prompts) == 2, "both orders"


def longer(prompt: str) -> str:
    """Prefers the text that says 'splendid', wherever it stands."""
    return json.dumps({"winner": "A" if prompt.find("splendid") < prompt.find("shabby") else "B", "reason": "by word"})


def test_the_better_one_wins_in_both_orders() -> None:
    found = WinRateEvaluator(Llm(longer)).compare_pair(
        {"id": "a", "problem": "a splendid one"},
        {"id": "b", "problem": "a shabby one"},
        label_a="Mine",
        label_b="Theirs",
    )
    assert (found["winner"], found["consistent"]) == ("Mine", True)
    assert "by word" in found["reason"]


def test_a_verdict_that_cannot_be_read_is_no_tie() -> None:
    found = WinRateEvaluator(Llm("prose")).compare_pair({"id": "a", "problem": "x"}, {"id": "b", "problem": "y"})
    assert found["winner"] is None
    assert found["error"]


def test_rates_are_reproducible_sum_to_one_and_count_pairs() -> None:
    mine = [{"problem_id": f"m{n}", "problem": f"a splendid one {n}"} for n in range(3)]
    theirs = [{"problem_id": f"t{n}", "problem": f"a shabby one {n}"} for n in range(5)]
    results = WinRateEvaluator(Llm(longer)).evaluate_win_rate(mine, theirs, num_comparisons=2)
    metrics = results["metrics"]
    assert metrics["win_rate"] + metrics["loss_rate"] + metrics["tie_rate"] == 1
    assert (metrics["wins"], metrics["losses"], metrics["ties"], metrics["total_comparisons"]) == (2, 0, 0, 2)
    one = results["comparisons"][0]
    assert (one["actual_winner"], one["actual_order"]) == ("Generated", {"A": "Generated", "B": "Reference"})
    again = WinRateEvaluator(Llm(longer)).evaluate_win_rate(mine, theirs, num_comparisons=2)
    pairs = [[(one["problem_a_id"], one["problem_b_id"]) for one in found["comparisons"]] for found in (results, again)]
    assert pairs[0] == pairs[1]
    assert WinRateEvaluator(Llm(longer)).evaluate_win_rate(mine, theirs)["metrics"]["total_comparisons"] == 15


def test_a_judge_that_always_names_the_first_wins_nothing() -> None:
    mine = [{"problem_id": f"m{n}", "problem": f"one {n}"} for n in range(6)]
    theirs = [{"problem_id": f"t{n}", "problem": f"other {n}"} for n in range(6)]
    metrics = WinRateEvaluator(Llm('{"winner": "A", "reason": "-"}')).evaluate_win_rate(mine, theirs, 6)["metrics"]
    assert (metrics["win_rate"], metrics["tie_rate"], metrics["consistency"]) == (0, 1, 0)


def test_failed_comparisons_are_counted_apart() -> None:
    llm = Llm(lambda prompt: "no" if "mute" in prompt else longer(prompt))
    mine = [{"id": "a", "problem": "splendid"}, {"id": "b", "problem": "splendid mute"}]
    metrics = WinRateEvaluator(llm).evaluate_win_rate(mine, [{"id": "c", "problem": "shabby"}], 2)["metrics"]
    assert (metrics["win_rate"], metrics["total_comparisons"], metrics["judge_failed"]) == (1, 1, 1)


@pytest.mark.parametrize(("mine", "theirs", "count"), [(0, 2, None), (2, 0, 1), (2, 2, -1), (2, 2, 0)])
def test_nothing_to_compare_is_an_error(mine: int, theirs: int, count: int | None) -> None:
    one, other = (
        [{"id": f"{n}", "problem": f"{word} {n}"} for n in range(size)] for word, size in (("a", mine), ("b", theirs))
    )
    with pytest.raises(BadInput):
        WinRateEvaluator(Llm(longer)).evaluate_win_rate(one, other, count)


# Tools


def test_the_judge_tool_answers_with_json_text_and_writes_its_files() -> None:
    tool = LLMJudgeTool(llm=Llm(FINE))
    said = tool.run({"generated_data_path": generated(), "reference_data_path": real(), "max_samples": 3})
    told = json.loads(said)
    assert {"status", "metrics", "num_problems", "result_file", "report_file"} <= told.keys()
    assert (told["status"], told["num_problems"], told["metrics"]["average_total_score"]) == ("success", 3, 4.0)
    assert told["result_file"].startswith("evaluation_results/llm_judge/llm_judge_results_")
    report = Path(told["report_file"]).read_text(encoding="utf-8")
    assert "4.00/5.0" in report
    assert "good" in report
    assert "uncalibrated" in report
    assert (tool.name, tool.get_parameters()[0].name) == ("llm_judge_evaluation", "generated_data_path")


def test_the_win_rate_tool_answers_with_json_text_and_writes_its_files() -> None:
    tool = WinRateTool(llm=Llm('{"winner": "Tie", "reason": "alike"}'))
    told = json.loads(
        tool.run({"generated_data_path": generated(4), "reference_data_path": real(3), "output_dir": "here"})
    )
    assert told["metrics"]["total_comparisons"] == 3
    assert (told["metrics"]["tie_rate"], told["metrics"]["win_rate"]) == (1, 0)
    assert Path(told["report_file"]).parent == Path("here")
    assert tool.name == "win_rate_evaluation"


@pytest.mark.parametrize("kind", [LLMJudgeTool, WinRateTool])
def test_a_tool_without_data_says_what_is_missing(kind: Any) -> None:
    with pytest.raises(BadInput, match="generated_data_path"):
        kind(llm=Llm(FINE)).run({})
    with pytest.raises(BadInput, match="no parameter 'data'"):
        kind(llm=Llm(FINE)).run({"data": "x"})
    with pytest.raises(BadInput, match="reference_data_path"):
        WinRateTool(llm=Llm(FINE)).run({"generated_data_path": generated()})


def test_a_judge_that_never_answers_gives_no_success() -> None:
    told = json.loads(LLMJudgeTool(llm=Llm("no")).run({"generated_data_path": generated(2)}))
    assert (told["status"], told["metrics"]["average_total_score"]) == ("failed", None)
    assert Path(told["report_file"]).exists()


# Generation


def test_a_single_problem_has_the_fields_of_the_source() -> None:
    generator = AIMEGenerator(llm=Llm(Everything()), delay_seconds=0, use_reference_examples=False)
    assert generator.generate_single().keys() == {"problem", "answer", "solution", "topic"}


def test_what_cannot_be_generated_is_no_placeholder() -> None:
    generator = AIMEGenerator(llm=Llm("no"), delay_seconds=0, use_reference_examples=False)
    with pytest.raises(AgentFailed, match="holds no JSON"):
        generator.generate_single(max_retries=2)
    assert generator.generate_batch(2) == []
    with pytest.raises(AgentFailed):
        generator.generate_and_save(1, "out")
    assert not list(Path("out").glob("aime_generated_*"))


def test_an_answer_out_of_range_is_asked_for_again() -> None:
    llm = Llm(Everything(bad=[json.dumps(item(7, answer=1234))]))
    [made] = AIMEGenerator(llm=llm, delay_seconds=0, use_reference_examples=False).generate_batch(1)
    assert made["answer"] == 1
    assert "999" in llm.prompts[1]


def test_batches_are_saved_where_and_as_the_source_does() -> None:
    llm = Llm(Everything())
    path = AIMEGenerator(llm=llm, delay_seconds=0, reference_dataset=real()).generate_and_save(
        num_problems=3, output_dir="out"
    )
    saved = json.loads(Path(path).read_text(encoding="utf-8"))
    assert Path(path).name.startswith("aime_generated_")
    assert [one["id"] for one in saved] == ["gen_aime_1", "gen_aime_2", "gen_aime_3"]
    assert all({"id", "problem", "answer", "solution", "topic", "generated_at"} <= one.keys() for one in saved)
    assert len(list(Path("out").glob("generation_report_*.md"))) == 1
    assert not list(Path("out").glob("checkpoint_*"))
    assert any(text(1000 + seed) in llm.prompts[0] for seed in range(8)), "a real problem is shown"


def test_a_stopped_batch_goes_on_from_its_checkpoint() -> None:
    Path("out").mkdir()
    data_file(Path("out/checkpoint_20250110_120000.json"), [{"id": f"gen_aime_{n}", **item(n)} for n in (1, 2)])
    llm = Llm(Everything(first=1))  # writes item 2 first, which is there already
    path = AIMEGenerator(llm=llm, delay_seconds=0, use_reference_examples=False).generate_and_save(4, "out")
    saved = json.loads(Path(path).read_text(encoding="utf-8"))
    assert [one["id"] for one in saved] == [f"gen_aime_{n}" for n in (1, 2, 3, 4)]
    assert [one["answer"] for one in saved] == [1, 2, 3, 4]
    assert not list(Path("out").glob("checkpoint_*"))


def test_the_checkpoint_is_written_after_every_problem_and_never_destroyed() -> None:
    seen: list[int] = []
    write = Everything()

    def reply(prompt: str) -> str:
        seen.append(len(json.loads(Path("c.json").read_text())) if Path("c.json").exists() else 0)
        return write(prompt)

    generator = AIMEGenerator(llm=Llm(reply), delay_seconds=0, use_reference_examples=False)
    generator.generate_batch(3, checkpoint_path="c.json")
    assert seen == [0, 1, 2]
    Path("c.json").write_text("{broken", encoding="utf-8")
    with pytest.raises(BadInput, match="no checkpoint"):
        generator.generate_batch(3, checkpoint_path="c.json")
    assert Path("c.json").read_text() == "{broken"


def test_calls_keep_their_distance() -> None:
    from time import monotonic

    moments: list[float] = []
    write = Everything()

    def reply(prompt: str) -> str:
        moments.append(monotonic())
        return write(prompt)

    AIMEGenerator(llm=Llm(reply), delay_seconds=0.05, use_reference_examples=False).generate_batch(3)
    assert all(later - earlier >= 0.05 for earlier, later in itertools.pairwise(moments))


def test_without_the_hub_generation_goes_on_without_examples(capsys: pytest.CaptureFixture[str]) -> None:
    generator = AIMEGenerator(llm=Llm(Everything()), delay_seconds=0)
    assert "cannot be read" in capsys.readouterr().out
    assert not generator.use_reference_examples
    assert len(generator.generate_batch(1)) == 1


def test_the_whole_flow_gives_the_four_keys_and_the_folder_of_the_source() -> None:
    found = run_complete_evaluation(4, 0.0, llm=Llm(Everything()), reference_data_path=real())
    assert list(found) == ["generated_data_path", "llm_judge_result", "win_rate_result", "comprehensive_report_path"]
    assert found["llm_judge_result"]["metrics"]["average_total_score"] == 4
    assert found["win_rate_result"]["metrics"]["tie_rate"] == 1
    report = Path(found["comprehensive_report_path"])
    assert report.name == "comprehensive_report.md"
    assert report.parent.parent == Path("data_generation/evaluation_results")
    assert {one.name for one in report.parent.iterdir()} >= {"llm_judge", "win_rate", "comprehensive_report.md"}
    page = report.read_text(encoding="utf-8")
    assert page.count("\n## ") == 7
    assert "not enough evidence" in page
    assert found["generated_data_path"].startswith("data_generation/generated_data/aime_generated_")


def test_the_comprehensive_report_is_written_of_what_the_tools_said() -> None:
    data, paths = generated(), {"generated_data_path": "mine.json", "reference_data_path": real()}
    judged = json.loads(LLMJudgeTool(llm=Llm(FINE)).run(paths))
    compared = json.loads(WinRateTool(llm=Llm(longer)).run(paths))
    page = generate_comprehensive_report(data, judged, compared, reference_data_path="real.json")
    assert page.count("\n## ") == 7
    assert f"run {judged['run_id']}" in page
    assert f"run {compared['run_id']}" in page
    alone = generate_comprehensive_report(data, judged, None, reference_data_path="real.json")
    assert f"run {judged['run_id']}" in alone
    assert "not measured" in alone


def test_a_step_that_fails_does_not_stop_the_rest() -> None:
    found = run_complete_evaluation(2, 0.0, llm=Llm(Everything()))  # no hub: nothing real to compare with
    assert found["llm_judge_result"] is None
    assert found["win_rate_result"] is None
    assert found["comprehensive_report_path"] is None
    assert Path(found["generated_data_path"]).exists()


# Verification


def test_a_person_verifies_problem_by_problem() -> None:
    data = generated(3)
    before = Path(data).read_bytes()
    page = HumanVerificationUI(data)
    number, problem, answer, solution, topic, comment = page.get_current_problem()
    assert "1" in number
    assert "3" in number
    assert "frac" in problem
    assert "0" in answer
    assert "answer is 0" in solution
    assert "Algebra" in topic
    assert comment == ""
    page.verify_problem(5, 4, 4, 5, "approved", "Very good")
    assert page.next_problem()[0] != number
    page.verify_problem(2, 2, 2, 2, "rejected")
    assert page.prev_problem()[5] == "Very good", "what was said is shown again"
    saved = json.loads(Path("mine_verifications.json").read_text(encoding="utf-8"))
    assert saved["gen_aime_1"]["scores"] == dict(zip(DIMENSIONS, (5, 4, 4, 5), strict=True))
    assert (saved["gen_aime_1"]["total_score"], saved["gen_aime_1"]["status"]) == (4.5, "approved")
    assert page.verifications["gen_aime_2"]["status"] == "rejected"
    assert all(word in page.get_statistics() for word in ("3", "2", "approved: 1", "rejected: 1", "3.25"))
    assert Path(data).read_bytes() == before
    assert HumanVerificationUI(data).get_current_problem()[5] == "Very good"


@pytest.mark.parametrize("folder", ["my.json.d", "plain"])
def test_the_data_itself_is_never_written_over(folder: str) -> None:
    Path(folder).mkdir()
    path = data_file(Path(folder, "aime.json"), [{"id": "a", "problem": "x"}])
    before = path.read_bytes()
    HumanVerificationUI(path).verify_problem(5, 5, 5, 5, "approved", "")
    assert path.read_bytes() == before
    assert Path(folder, "aime_verifications.json").exists()


def test_a_wrong_score_or_status_is_refused() -> None:
    page = HumanVerificationUI(generated(1))
    for values in ((6, 4, 4, 5, "approved"), (5, 4, 4, 5, "maybe")):
        with pytest.raises(BadInput):
            page.verify_problem(*values)
    with pytest.raises(BadInput, match="this machine only"):
        page.launch(share=True)


# Dimensions of one's own


def test_templates_have_the_dimensions_of_the_source() -> None:
    names = {
        name: EvaluationConfig.load_template(name).get_dimension_names() for name in ("math", "code", "writing", "qa")
    }
    assert {name: len(found) for name, found in names.items()} == {"math": 5, "code": 5, "writing": 5, "qa": 4}
    assert names["code"] == ["correctness", "robustness", "efficiency", "readability", "style_compliance"]
    assert EvaluationConfig().get_dimension_names() == ["correctness", "clarity", "completeness"]
    assert EvaluationConfig.from_names(["clarity", "wit"]).get_dimension_names() == ["clarity", "wit"]
    [dimension] = EvaluationConfig.custom(depth="Is it deep?").dimensions
    assert (dimension.scale, dimension.description) == (5, "Is it deep?")
    with pytest.raises(BadInput, match="no template 'poetry'"):
        EvaluationConfig.load_template("poetry")


def test_fields_are_renamed_and_ones_own_dimensions_judged() -> None:
    config = EvaluationConfig.load_template("code")
    llm = Llm(json.dumps({**dict.fromkeys(config.get_dimension_names(), 3), "comments": "-"}))
    judge = UniversalLLMJudgeEvaluator(
        llm=llm, eval_config=config, field_mapping={"problem": "code", "answer": "expected_output"}
    )
    data = [{"id": "code_001", "code": "def fib(n): ...", "expected_output": "numbers"}]
    result = judge.evaluate_single(data[0])
    assert (result["problem_id"], result["total_score"]) == ("code_001", 3)
    assert "def fib" in llm.prompts[0]
    assert judge.evaluate_batch(data)["metrics"]["dimension_averages"]["robustness"] == 3


def test_scales_of_dimensions_may_differ() -> None:
    from proctor_compat.hello_agents import EvaluationDimension

    config = EvaluationConfig(
        [EvaluationDimension("wit", "Is it witty?", 10), EvaluationDimension("clarity", "Is it clear?")]
    )
    llm = Llm(lambda prompt: '{"wit": 9, "clarity": 4}')
    result = UniversalLLMJudgeEvaluator(llm=llm, eval_config=config).evaluate_single({"id": "a", "problem": "x"})
    assert result["scores"] == {"wit": 9, "clarity": 4}


def test_win_rates_of_ones_own_stand_on_top_too() -> None:
    judge = UniversalWinRateEvaluator(
        llm=Llm(longer), eval_config=EvaluationConfig.load_template("writing"), field_mapping={"problem": "content"}
    )
    found = judge.evaluate_win_rate(
        [{"id": "g1", "content": "splendid"}], [{"id": "r1", "content": "shabby"}], num_comparisons=5
    )
    assert found["win_rate"] == found["metrics"]["win_rate"] == 1
    assert (found["wins"], found["ties"], found["losses"]) == (1, 0, 0)
    assert len(found["dimensions"]) == 5


def test_a_file_is_read_with_its_fields_renamed() -> None:
    Path("q.csv").write_text("q,a\nWhy?,So.\n", encoding="utf-8")
    dataset = UniversalDataset({"path": "q.csv", "format": "csv"}, {"problem": "q", "answer": "a"})
    assert (len(dataset), dataset[0], list(dataset)) == (1, {"problem": "Why?", "answer": "So."}, dataset.data)
    for config in ({}, {"path": "q.csv", "format": "json"}, {"path": "q.docx"}):
        with pytest.raises(BadInput):
            UniversalDataset(config)
