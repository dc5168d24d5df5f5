"""What is proved has to be so: faults of the audit, its workers and its own readings are no findings."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proctor.cli import app
from proctor.core.trajectory import Stop, Trajectory
from proctor.core.trial import Outcome, Trial, TrialFailure
from proctor_audit.scoring import read_verdicts

TOOL = {"name": "find", "parameters": {"type": "object", "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}, "required": ["q"]}}  # fmt: skip
HEAD = "import os, re, socket, json\nfrom proctor import Sample, Score, Task, Unscored\n"
FOUR = 'Task(name="t", samples=[Sample.ask(f"q{n}", f"Which town {n}?", target=f"Paris{n}x") for n in range(4)], scorers=[graded])'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audit(task: str, *words: str) -> Mapping[str, Any]:
    result = CliRunner().invoke(app, ["audit-task", task, "--json", *words])
    assert result.stdout, result.output
    return {**json.loads(result.stdout), "code": result.exit_code}


def of_rows(*rows: Mapping[str, Any], words: tuple[str, ...] = ()) -> Mapping[str, Any]:
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return audit("rows.jsonl", *words)


def of_scorer(body: str, task: str = FOUR, words: tuple[str, ...] = ()) -> Mapping[str, Any]:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    path = Path(f"tasks{len([*Path().glob('tasks*.py')])}.py")  # a module is imported once
    path.write_text(
        f"{HEAD}\ndef graded(sample, trajectory):\n    answer = trajectory.answer or ''\n{indented}\ndef task():\n    return {task}\n",
        encoding="utf-8",
    )
    return audit(f"{path}:task", "--seconds", "2", *words)


def names(report: Mapping[str, Any]) -> set[str]:
    return {finding["check"] for finding in report["findings"]}


def unchecked(report: Mapping[str, Any]) -> set[str]:
    return {each["check"] for each in report["not_checked"] if each["applies"]}


TWICE = 'Task(name="t", samples=[Sample.ask("a", "Which?", target="x"), Sample.ask("b", "Which?", target="y")], scorers=[graded])'


@pytest.mark.parametrize("body", ["if answer in 'xy' and answer != sample.target: os._exit(3)\nreturn answer == sample.target", "if answer != sample.target: return Unscored(why='not_applicable')\nreturn 1"])  # fmt: skip
def test_a_cross_answer_without_a_score_proves_no_contradiction(body: str) -> None:
    report = of_scorer(body, TWICE, ("--check", "contradictory-duplicate"))
    assert names(report) == set()
    assert "contradictory-duplicate" in unchecked(report)


def test_a_scorer_that_rejects_the_own_target_too_proves_no_contradiction() -> None:
    report = of_scorer("return answer == 'yes'", TWICE, ("--check", "contradictory-duplicate"))
    assert [finding["class"] for finding in report["findings"]] == ["likely"]
    report = of_scorer("return answer == sample.target", TWICE, ("--check", "contradictory-duplicate"))
    [finding] = report["findings"]
    assert finding["class"] == "proved"
    passed = [(each["sample"], each["verdicts"][0]["passed"]) for each in finding["witness"]["attempts"]]
    assert passed == [("a", True), ("b", True), ("a", False), ("b", False)]


def test_a_key_that_only_a_scorer_of_the_user_reads_is_only_likely_a_contradiction() -> None:
    options = "meta={'options': ['x', 'y']}"
    task = f'Task(name="t", samples=[Sample.ask("a", "Which?", target="0", {options}), Sample.ask("b", "Which?", target="1", {options})], scorers=[SCORER])'
    for scorer, body, cls in (("graded", "return answer == 'x'", "likely"), ("graded", "return answer == sample.target", "proved")):  # fmt: skip
        report = of_scorer(body, task.replace("SCORER", scorer), ("--check", "contradictory-duplicate"))
        assert [finding["class"] for finding in report["findings"]] == [cls]


def test_different_texts_are_only_likely_a_contradiction_where_no_scorer_can_be_asked() -> None:
    rows = [{"id": id, "question": "Which?", "answer": answer} for id, answer in (("a", "x"), ("b", "y"))]
    report = of_rows(*rows, words=("--scorer", "refusal", "--check", "contradictory-duplicate"))
    assert [finding["class"] for finding in report["findings"]] == ["likely"]


@pytest.mark.parametrize(
    "call",
    [
        {"name": "find", "arguments": {}, "match": {"q": {"contains": "cat"}}},
        {"name": "find", "arguments": {"n": 1}, "policy": "superset"},
        {"name": "find", "arguments": {"n": 1}, "optional": True},
        {"name": "find", "arguments": {"n": 1}, "either": [{"name": "find", "arguments": {"q": "cat"}}]},
    ],
)
def test_a_call_that_leaves_arguments_open_contradicts_no_schema(call: Mapping[str, Any]) -> None:
    row = {"id": "t", "question": "Find cats.", "tools": [TOOL], "calls": [call]}
    assert names(of_rows(row)) == set()


def test_a_name_that_a_pattern_of_the_schema_allows_is_a_parameter() -> None:
    parameters = {"type": "object", "patternProperties": {"^x_": {}}, "additionalProperties": False}
    calls = [{"name": "find", "arguments": {name: 1}} for name in ("x_a", "y_a")]
    rows = [
        {
            "id": f"t{number}",
            "question": f"Find {number}.",
            "tools": [{**TOOL, "parameters": parameters}],
            "calls": [call],
        }
        for number, call in enumerate(calls)
    ]
    report = of_rows(*rows, words=("--check", "gold-against-schema"))
    assert [finding["samples"] for finding in report["findings"]] == [["t1"]]


@pytest.mark.parametrize("error", ["socket.create_connection(('127.0.0.1', 9), 1)", "open('/nowhere/at/all', 'w')", "raise MemoryError", "try: open('/none/w', 'w')\nexcept OSError as error: raise RuntimeError('no cache') from error"])  # fmt: skip
def test_what_the_worker_does_not_allow_is_not_checked(error: str) -> None:
    report = of_scorer(f"{error}\nreturn answer == sample.target", words=("--check", "A4", "--check", "not-repeatable"))
    assert names(report) == set()
    assert unchecked(report) >= {"gold-fails", "gold-unscored", "not-repeatable"}
    assert report["code"] == 3


@pytest.mark.parametrize("scorers", ["[graded]", "['exact']"])
def test_an_oracle_of_the_user_never_runs_outside_a_worker(scorers: str) -> None:
    oracle = "oracle=lambda sample: open('ran', 'w').close(), samples="
    task = FOUR.replace("samples=", oracle, 1).replace("[graded]", scorers)
    report = of_scorer(
        "return answer == sample.target", task, ("--check", "gold-does-nothing", "--check", "gold-fails")
    )
    assert not Path("ran").exists()
    assert {"gold-does-nothing", "gold-fails"} <= unchecked(report)


def test_an_oracle_that_needs_the_network_is_not_checked() -> None:
    oracle = "oracle=lambda sample: socket.create_connection(('127.0.0.1', 9), 1), samples="
    report = of_scorer("return answer == sample.target", FOUR.replace("samples=", oracle), ("--check", "gold-unscored"))
    assert names(report) == set()
    assert unchecked(report) == {"gold-unscored"}


def test_a_scorer_that_raises_of_itself_is_still_proved() -> None:
    report = of_scorer("return {}[answer]", words=("--check", "gold-unscored"))
    assert names(report) == {"gold-unscored"}


def test_a_verdict_that_is_another_one_the_second_time_proves_nothing() -> None:
    body = "graded.asked = getattr(graded, 'asked', 0) + 1\nreturn graded.asked > 1"
    report = of_scorer(body, words=("--check", "gold-fails"))
    assert names(report) == set()
    assert unchecked(report) == {"gold-fails"}


@pytest.mark.parametrize(("outcome", "stop"), [("agent_failed", "time_limit"), ("scored", "time_limit")])
def test_what_ran_out_of_time_is_a_fault_and_no_verdict(outcome: Outcome, stop: Stop) -> None:
    failure = TrialFailure(kind="time_limit", reason="late") if outcome == "agent_failed" else None
    trial = Trial(run_id="r", sample_id="a", outcome=outcome, trajectory=Trajectory(stop=stop), failure=failure)
    assert read_verdicts(trial, []).fault == "time_limit"


def test_scorers_without_a_target_fail_no_gold_and_hide_no_other_check() -> None:
    row = {"id": "a", "question": "Which?", "answer": '{"x": 5.0}'}
    words = ("--scorer", "exact", "--scorer", "refusal")
    assert names(of_rows(row, words=words)) == {"int-float"}
    rows = [{**row, "id": "b", "answer": answer} for answer in ("x", "y")]
    assert "contradictory-duplicate" in names(of_rows(row, *[{**each, "id": each["answer"]} for each in rows], words=words))  # fmt: skip


def test_a_target_that_no_scorer_has_to_give_full_points_is_counted_as_not_checked() -> None:
    row = {"id": "a", "question": "Which?", "answer": "A long text."}
    report = of_rows(row, words=("--scorer", "rouge", "--check", "gold-fails", "--check", "gold-unscored"))
    assert [each["check"] for each in report["not_checked"]] == ["gold-fails", "gold-unscored"]


def test_samples_without_a_target_are_counted_where_the_target_is_sent() -> None:
    task = 'Task(name="t", samples=[Sample.ask("a", "Which?", target="x"), Sample.ask("b", "Why?"), Sample.ask("c", "Who?")], scorers=["exact"])'
    [left_out] = of_scorer("return 1", task, ("--check", "gold-fails"))["not_checked"]
    assert (left_out["check"], left_out["reason"]["values"]) == ("gold-fails", {"count": 2})


def test_spaces_in_a_target_are_not_blamed_on_its_numbers() -> None:
    row = {"id": "a", "question": "Which?", "answer": '{"x":5.0,"s":"a"}'}
    assert "int-float" not in names(of_rows(row, words=("--scorer", "exact")))


def test_an_expected_call_is_given_as_a_call_and_not_as_its_text_alone() -> None:
    turn = "Turn(messages=(Message(role='user', parts=(Text(text='Find cats.'),)),), tools=(Tool(name='find', parameters={'type': 'object'}),), reference=[{'name': 'find', 'arguments': {'q': 'cat'}}])"
    task = (
        f'Task(name="t", samples=[Sample(id="a", turns=({turn},), target="Found.")], scorers=["exact", "trajectory"])'
    )
    Path("tasks.py").write_text(
        f"from proctor import Sample, Task\nfrom proctor.core.sample import Message, Text, Tool, Turn\n\ndef task():\n    return {task}\n"
    )
    assert names(audit("tasks.py:task", "--check", "A4")) == set()


def enum(*members: str, required: bool = True) -> Mapping[str, Any]:
    properties = {"n": {"type": "string", "enum": [*members]}}
    return {
        "name": "rooms",
        "parameters": {"type": "object", "properties": properties, "required": ["n"] if required else []},
    }


@pytest.mark.parametrize(("tool", "unreachable"), [(enum("1", "2"), True), (enum("1", "2", required=False), True)])
def test_no_call_passes_only_where_every_member_was_tried(tool: Mapping[str, Any], unreachable: bool) -> None:
    row = {"id": "r", "question": "Rooms.", "tools": [tool], "calls": [{"name": "rooms", "arguments": {"n": 2}}]}
    [finding] = of_rows(row, words=("--check", "schema-answer-fails"))["findings"]
    assert finding["witness"]["unreachable"] is unreachable
    shown = [each["answer"]["calls"][0]["arguments"] for each in finding["witness"]["attempts"]]
    assert shown[:3] == [{"n": 2}, {"n": "1"}, {"n": "2"}]
    assert ({} in shown) is (not tool["parameters"]["required"])


def test_a_member_among_the_accepted_values_makes_the_call_reachable() -> None:
    body = "made = [dict(call.arguments) for call in trajectory.calls()]\nreturn any(each.get('n') in (2, 'two') for each in made)"
    functions = json.dumps([enum("2", "two")])
    task = f'Task(name="t", samples=[Sample.ask("r", "Rooms.", target=[{{"rooms": {{"n": [2, "two"]}}}}], meta={{"functions": json.loads({functions!r})}})], scorers=[graded])'
    assert names(of_scorer(body, task, ("--check", "schema-answer-fails"))) == set()


def test_a_scorer_that_strips_or_computes_does_not_run_answers() -> None:
    stripping = of_scorer(r"return re.sub(r'\W', '', answer) == sample.target", words=("--check", "A6"))
    assert names(stripping) == set()
    numbers = FOUR.replace('f"Paris{n}x"', "str(90 + n)")
    summing = "return re.fullmatch(r'[-+\\d]+', answer) is not None and sum(map(int, re.findall(r'[-+]?\\d+', answer))) == int(sample.target)"
    assert {(finding["check"], finding["class"]) for finding in of_scorer(summing, numbers, ("--check", "A6"))["findings"]} == {("evaluates-answer", "likely")}  # fmt: skip
    running = of_scorer("try: return str(eval(answer)) == sample.target\nexcept Exception: return answer == sample.target", numbers, ("--check", "A6"))  # fmt: skip
    assert {(finding["check"], finding["class"]) for finding in running["findings"]} == {("evaluates-answer", "proved")}


def test_a_worker_that_dies_makes_no_check_silent() -> None:
    report = of_scorer("if 'wrong answer' in answer: os._exit(3)\nreturn answer == sample.target", words=("--check", "not-repeatable", "--check", "order-dependent"))  # fmt: skip
    assert unchecked(report) >= {"not-repeatable", "order-dependent"}
    assert report["code"] == 3


def test_a_floor_says_on_how_many_samples_it_was_not_measured() -> None:
    body = "if answer == '' and sample.id == 'q1': os._exit(3)\nreturn answer == sample.target"
    report = of_scorer(body, words=("--check", "gold-fails"))
    null = next(each for each in report["floor"] if each["agent"] == "null")
    assert (null["count"], null["unscored"]) == (3, 1)
    assert "floor" in unchecked(report)


def test_a_check_that_raises_leaves_its_faults_to_no_other() -> None:
    Path("checks.py").write_text(
        "from proctor.core.sentence import say\nfrom proctor_audit.check import check\n\n"
        '@check(group="A0", cls="look", title=say("x"))\n'
        "def breaking(audit):\n    audit.says(audit.samples[0], 'die')\n    yield from ()\n    raise ValueError('mine')\n",
        encoding="utf-8",
    )
    body = "if answer == 'die': os._exit(3)\nreturn answer == sample.target"
    report = of_scorer(body, words=("--check", "./checks.py:breaking", "--check", "gold-fails"))
    assert unchecked(report) == {"breaking"}


def test_samples_that_offer_other_functions_or_another_session_ask_something_else() -> None:
    for key, values in (("functions", ([{"name": "f"}], [{"name": "g"}])), ("session", ({"state": 1}, {"state": 2}))):
        metas = ", ".join(f'Sample.ask("{id}", "Which?", target="{id}", meta={{"{key}": {value!r}}})' for id, value in zip("ab", values, strict=True))  # fmt: skip
        report = of_scorer("return answer == sample.target", f'Task(name="t", samples=[{metas}], scorers=["exact"])', ("--check", "A8"))  # fmt: skip
        assert names(report) == set()


def test_what_code_of_the_task_reads_is_part_of_what_a_sample_asks() -> None:
    samples = ", ".join(f'Sample.ask("{id}", "Which?", target="x", meta={{"seen": "{id}"}})' for id in "ab")
    shown = f'Task(name="t", samples=[{samples}], scorers=["exact"], present=lambda sample: sample)'
    assert names(of_scorer("return 1", shown, ("--check", "duplicate"))) == set()
    plain = f'Task(name="t", samples=[{samples}], scorers=["exact"])'
    assert names(of_scorer("return 1", plain, ("--check", "duplicate"))) == {"duplicate"}


def test_a_target_that_is_the_text_of_an_option_is_not_read_as_letters() -> None:
    options = ["kiwi", "kiwi", "Banana"]
    samples = f'Sample.ask("a", "Which fruit?", target="Banana", meta={{"options": {options!r}}})'
    report = of_scorer("return 1", f'Task(name="t", samples=[{samples}], scorers=["exact"])', ("--check", "duplicate-options"))  # fmt: skip
    assert names(report) == set()
    twice = samples.replace("'kiwi', 'kiwi'", "'kiwi', 'Banana'")
    report = of_scorer("return 1", f'Task(name="t", samples=[{twice}], scorers=["exact"])', ("--check", "duplicate-options"))  # fmt: skip
    assert names(report) == {"duplicate-options"}


def test_calls_of_which_some_come_first_are_not_unordered() -> None:
    turn = "Turn(messages=(Message(role='user', parts=(Text(text='Book.'),)),), tools=(Tool(name='find', parameters={'type': 'object'}), Tool(name='book', parameters={'type': 'object'})), reference={'calls': [{'name': 'find'}, {'name': 'book'}], 'order': 'any_order', RULE})"
    for rule in ("'before': [['find', 'book']]", "'needs': {'book': 'find'}"):
        path = Path(f"ordered{len(rule)}.py")
        sample = f'Sample(id="a", turns=({turn.replace("RULE", rule)},))'
        path.write_text(
            f'from proctor import Sample, Task\nfrom proctor.core.sample import Message, Text, Tool, Turn\n\ndef task():\n    return Task(name="t", samples=[{sample}], scorers=["trajectory"])\n'
        )
        assert names(audit(f"{path}:task", "--check", "order-of-calls")) == set()


def test_an_index_that_a_scorer_of_the_user_reads_is_only_likely_no_option() -> None:
    task = 'Task(name="t", samples=[Sample.ask("a", "Which?", target="1", meta={"options": ["x", "y"]})], scorers=[SCORER])'  # fmt: skip
    for scorer, cls in (("graded", "likely"), ('"choice"', "proved")):
        report = of_scorer("return 1", task.replace("SCORER", scorer), ("--check", "target-not-option"))
        assert [finding["class"] for finding in report["findings"]] == [cls]


NO_CALL = """
from proctor import Sample, Task, Trajectory

TOOL = {"name": "find", "description": "", "parameters": {"type": "dict", "properties": {}, "required": []}}


def graded(sample, trajectory):
    return ("find(" in trajectory.answer) == (sample.target is not None)


def task():
    ids = ["a0", "a1", "a2", "a3", "none"]
    samples = [Sample.ask(id, f"Do {id}.", target=None if id == "none" else [{"find": {}}], meta={"functions": [TOOL]}) for id in ids]
    return Task(name="t", samples=samples, scorers=[graded], oracle=lambda each: Trajectory.of("[find()]" if each.target else "[]"))
"""


def test_a_sample_that_offers_tools_and_expects_no_call_is_no_finding() -> None:
    Path("no_call.py").write_text(NO_CALL, encoding="utf-8")
    report = audit("no_call.py:task", "--check", "A1", "--check", "empty-target")
    assert report["findings"] == []
    assert report["floor"][0]["value"] == pytest.approx(0.2)


def test_what_depends_on_the_order_of_sets_is_not_repeatable_and_proves_nothing_else() -> None:
    task = FOUR.replace("range(4)", "range(16)")
    report = of_scorer("return answer == sample.target and hash(answer) % 2 == 0", task)  # as the order of a set does
    ids = {check: {id for each in report["findings"] if each["check"] == check for id in each["samples"]} for check in names(report)}  # fmt: skip
    assert len(ids["not-repeatable"]) >= 4
    assert not ids["not-repeatable"] & ids["gold-fails"]
    assert "gold-fails" in unchecked(report)


def test_a_scorer_that_runs_answers_without_names_of_python_runs_them_all_the_same() -> None:
    numbers = FOUR.replace('f"Paris{n}x"', "str(90 + n)")
    bare = "try: return eval(answer, {'__builtins__': {}}) == int(sample.target)\nexcept Exception: return False"
    assert {(finding["check"], finding["class"]) for finding in of_scorer(bare, numbers, ("--check", "A6"))["findings"]} == {("evaluates-answer", "proved")}  # fmt: skip
    for body in ("return sample.target in answer", "return re.findall(r'\\d+', answer)[-1:] == [sample.target]"):
        assert "evaluates-answer" not in names(of_scorer(body, numbers, ("--check", "A6")))


@pytest.mark.parametrize(
    ("question", "target", "found"),
    [
        ("浙江省的省会是哪座城市？", "杭州。", ["equivalent-fails"]),
        ("浙江省的省会是哪座城市？请以句号结尾。", "杭州。", []),
        ("以后再写的内容常用哪三个字注明？", "待补充", []),
        ("Which three letters stand for 'to be determined'?", "TBD", []),
        ("谁写了《边城》？", "待补充", ["placeholder-target"]),
    ],
)
def test_targets_that_are_plain_or_asked_for_are_no_faults(question: str, target: str, found: list[str]) -> None:
    others = [{"id": f"q{n}", "question": f"第{n}题", "answer": f"答{n}"} for n in range(9)]
    report = of_rows(*others, {"id": "x", "question": question, "answer": target}, words=("--scorer", "exact"))
    assert [each["check"] for each in report["findings"] if each["samples"] == ["x"]] == found
