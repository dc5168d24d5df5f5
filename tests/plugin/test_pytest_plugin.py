"""The pytest plugin in a pytest of its own: markers, cases as items, repeats, messages, processes, JUnit."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import pytest

# What a pytest in this process loads is unloaded after it; of these there would be two classes of one name then.
from proctor.api import evaluate  # noqa: F401
from proctor_adapters.evalsets import task  # noqa: F401

pytest_plugins = ["pytester"]

SET = {
    "eval_set_id": "shop",
    "eval_cases": [
        {
            "eval_id": name,
            "conversation": [
                {
                    "user_content": {"parts": [{"text": f"What does {name} cost?"}]},
                    "final_response": {"parts": [{"text": f"{name} costs 100."}]},
                    "intermediate_data": {"tool_uses": [{"name": "price", "args": {"model": name}}]},
                }
            ],
        }
        for name in ("chair", "desk", "lamp")
    ],
}
AGENT = """
def answer(question):
    model = question.split()[2]
    with open("asked.txt", "a") as asked:
        asked.write(model + "\\n")
    wrong = "{wrong}" == model
    call = {{"id": "c", "function": {{"name": "price", "arguments": '{{"model": "%s"}}' % ("sofa" if wrong else model)}}}}
    return [
        {{"role": "assistant", "content": None, "tool_calls": [call]}},
        {{"role": "tool", "tool_call_id": "c", "content": "100"}},
        {{"role": "assistant", "content": f"{{model}} costs 100."}},
    ]
"""
EACH = """
import pytest

@pytest.mark.proctor("shop.evalset.json", agent="./agent.py:answer", each=True)
def test_shop(proctor):
    pass
"""
WHOLE = EACH.replace(", each=True", "")


@pytest.fixture
def shop(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with an eval set, and an agent that is right."""
    monkeypatch.setenv("PROCTOR_LANG", "en")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # half a second each time
    pytester.path.joinpath("shop.evalset.json").write_text(json.dumps(SET), encoding="utf-8")
    _agent(pytester)
    return pytester


def _agent(shop: pytest.Pytester, wrong: str = "") -> None:
    shop.path.joinpath("agent.py").write_text(AGENT.format(wrong=wrong), encoding="utf-8")


def ran(shop: pytest.Pytester, text: str, *words: str, apart: bool = False) -> pytest.RunResult:
    """A pytest of its own over one file of tests; `apart` in a process of its own, which takes a second."""
    shop.makepyfile(test_it=text)
    run = shop.runpytest_subprocess if apart else shop.runpytest_inprocess
    return run("-p", "proctor_ci.pytest_plugin", "--strict-markers", "-W", "error", "-p", "no:cacheprovider", *words)


def asked(shop: pytest.Pytester) -> list[str]:
    return sorted(shop.path.joinpath("asked.txt").read_text(encoding="utf-8").split())


def test_an_agent_that_is_right_passes(shop: pytest.Pytester) -> None:
    ran(shop, WHOLE, apart=True).assert_outcomes(passed=1)
    assert asked(shop) == ["chair", "desk", "lamp"]


def test_every_case_is_an_item_and_runs_alone(shop: pytest.Pytester) -> None:
    _agent(shop, wrong="desk")
    result = ran(shop, EACH, "-v")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*test_shop[[]chair[]] PASSED*", "*test_shop[[]desk[]] FAILED*", "*[[]lamp[]] PASSED*"]
    )
    assert asked(shop) == ["chair", "desk", "lamp"]


def test_an_item_can_be_chosen_and_nothing_else_is_run(shop: pytest.Pytester) -> None:
    ran(shop, EACH, "-k", "lamp").assert_outcomes(passed=1, deselected=2)
    assert asked(shop) == ["lamp"]


def test_the_message_shows_what_was_expected_beside_what_was_made(shop: pytest.Pytester) -> None:
    _agent(shop, wrong="desk")
    result = ran(shop, WHOLE)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*shop with *agent.py:answer: 1 of 3 cases did not pass every time.",
            "*pass rate 66.7% (2 of 3 trials), interval * to *, at least 100.0% is wanted",
            "desk*",
            "*adk:tool_trajectory_avg_score: 0 / 1.*",
            '*wrong argument*price(model="desk")*price(model="sofa")*',
            '*model*"desk"*"sofa"*',
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "pytest_plugin.py" not in result.stdout.str()


def test_the_message_is_in_the_language_of_the_reader(shop: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_LANG", "zh")
    _agent(shop, wrong="desk")
    ran(shop, WHOLE).stdout.fnmatch_lines(["*3 个用例中有 1 个没有每次都通过*", "*参数有误*"])


def test_a_pass_rate_by_value_lets_some_fail(shop: pytest.Pytester) -> None:
    _agent(shop, wrong="desk")
    ran(shop, WHOLE.replace('answer"', 'answer", pass_rate=0.6, by="value"')).assert_outcomes(passed=1)


def test_thresholds_hold_the_means_of_numbers(shop: pytest.Pytester) -> None:
    _agent(shop, wrong="desk")
    text = WHOLE.replace(
        'answer"', 'answer", by="value", thresholds={"tool_trajectory_avg_score": %s, "response_match_score": 0.9}'
    )
    ran(shop, text % "0.6").assert_outcomes(passed=1)
    result = ran(shop, text % "0.7")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*adk:tool_trajectory_avg_score 66.7%, interval * at least 70.0% is wanted"])


CAPITAL = """
import pytest

@pytest.mark.proctor("q.jsonl", agent="./agent.py:answer", scorers=["exact"], runs=6, concurrency=1, WANTED)
def test_capital(proctor):
    pass
"""


def _half_right(shop: pytest.Pytester) -> None:
    shop.path.joinpath("agent.py").write_text(
        "count = 0\ndef answer(question):\n    global count\n    count += 1\n    return 'Paris' if count % 2 else 'Rome'\n"
    )
    shop.path.joinpath("q.jsonl").write_text('{"id": "fr", "question": "Capital?", "answer": "Paris"}\n')


@pytest.mark.parametrize(
    ("wanted", "outcome"),
    [
        ("pass_rate=0.1", "passed"),
        ("pass_rate=0.9", "failed"),
        ("pass_rate=0.5", "inconclusive"),
        ('pass_rate=0.5, inconclusive="fail"', "failed"),
        ('pass_rate=0.5, by="value"', "passed"),
    ],
)
def test_a_gate_is_met_missed_or_inconclusive(shop: pytest.Pytester, wanted: str, outcome: str) -> None:
    _half_right(shop)
    result = ran(shop, CAPITAL.replace("WANTED", wanted))
    assert result.parseoutcomes() == {outcome: 1}
    if outcome != "passed":
        result.stdout.fnmatch_lines(["*pass rate 50.0% (3 of 6 trials), interval 18.8% to 81.2%, at least *"])
    if outcome == "inconclusive":
        result.stdout.fnmatch_lines(["*test_capital: inconclusive: pass rate*", "*--proctor-inconclusive=fail*"])


@pytest.mark.parametrize(
    ("ini", "words", "own", "outcome"),
    [
        ("fail", [], "", "failed"),
        ("fail", ["--proctor-inconclusive=skip"], "", "inconclusive"),
        ("skip", ["--proctor-inconclusive=fail"], "", "failed"),
        ("fail", ["--proctor-inconclusive=fail"], ', inconclusive="skip"', "inconclusive"),
    ],
)
def test_what_an_inconclusive_gate_does_is_set_for_a_project_a_call_or_a_test(
    shop: pytest.Pytester, ini: str, words: list[str], own: str, outcome: str
) -> None:
    _half_right(shop)
    shop.makeini(f"[pytest]\nproctor_inconclusive = {ini}\n")
    assert ran(shop, CAPITAL.replace("WANTED", f"pass_rate=0.5{own}"), *words).parseoutcomes() == {outcome: 1}


def test_an_inconclusive_gate_is_told_by_workers_too(shop: pytest.Pytester) -> None:
    _half_right(shop)
    result = ran(shop, CAPITAL.replace("WANTED", "pass_rate=0.5"), "-p", "xdist.plugin", "-n", "1", apart=True)
    assert result.parseoutcomes()["inconclusive"] == 1
    result.stdout.fnmatch_lines(["*test_capital: inconclusive: pass rate*"])


def test_without_the_plugin_a_gate_does_not_pass(shop: pytest.Pytester) -> None:
    shop.makepyfile(test_it=WHOLE)
    result = shop.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:proctor", "-W", "ignore")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'proctor' not found*"])


def test_a_marker_alone_is_warned_of(shop: pytest.Pytester) -> None:
    shop.makepyfile(test_it=WHOLE.replace("test_shop(proctor)", "test_shop()"))
    result = shop.runpytest_inprocess("-p", "proctor_ci.pytest_plugin", "-p", "no:cacheprovider", "-W", "default")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*takes the fixture 'proctor' too*"])


def test_items_can_be_spread_over_processes(shop: pytest.Pytester) -> None:
    _agent(shop, wrong="desk")
    ran(shop, EACH, "-p", "xdist.plugin", "-n", "2", apart=True).assert_outcomes(passed=2, failed=1)
    assert asked(shop) == ["chair", "desk", "lamp"]


def test_the_body_of_the_test_sees_the_run(shop: pytest.Pytester) -> None:
    text = """
import pytest

@pytest.mark.proctor("shop.evalset.json", agent="./agent.py:answer")
def test_shop(proctor):
    assert proctor.run.estimate("adk:passed.accuracy").value == 1
    assert proctor.run.usage.requests == 0
"""
    ran(shop, text).assert_outcomes(passed=1)


def test_the_fixture_evaluates_functions_tasks_and_async(shop: pytest.Pytester) -> None:
    text = """
import pytest
from proctor import Sample, Task

TASK = Task(name="t", samples=[Sample.ask("fr", "Capital of France?", target="Paris")], scorers=["exact"])

def test_a_function(proctor):
    run = proctor.evaluate(TASK, agent=lambda question: "Paris")
    assert run.estimate("accuracy").value == 1

def test_a_wrong_answer(proctor):
    proctor.evaluate(TASK, agent=lambda question: "Rome", runs=2)

@pytest.mark.asyncio
async def test_async(proctor):
    async def answer(question):
        return "Paris"
    run = await proctor.evaluate_async(TASK, agent=answer, thresholds=1.0)
    assert run.outcomes == {"scored": 1}

def test_there_is_no_run_without_a_marker(proctor):
    with pytest.raises(pytest.UsageError, match="belongs to a test with the marker"):
        proctor.run
"""
    scope = "asyncio_default_fixture_loop_scope=function"
    result = ran(shop, text, "-p", "pytest_asyncio.plugin", "-o", scope, apart=True)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*pass rate 0.0% (0 of 2 trials), interval 0.0% to 65.8%*"])


def test_the_agent_can_come_out_of_a_fixture(shop: pytest.Pytester) -> None:
    text = """
import pytest

@pytest.fixture
def agent():
    from agent import answer
    return answer

@pytest.mark.proctor("shop.evalset.json", each=True)
def test_shop(proctor):
    pass
"""
    ran(shop, text).assert_outcomes(passed=3)


def test_an_agent_that_breaks_fails_the_case_and_says_why(shop: pytest.Pytester) -> None:
    shop.path.joinpath("agent.py").write_text("def answer(question):\n    raise ValueError('no stock')\n")
    result = ran(shop, EACH, "-k", "desk")
    result.assert_outcomes(failed=1, deselected=2)
    result.stdout.fnmatch_lines(["*no stock*"])


def test_what_could_not_be_measured_does_not_pass(shop: pytest.Pytester) -> None:
    text = """
import pytest

def broken(sample, trajectory):
    raise RuntimeError("the scorer is broken")

@pytest.mark.proctor("shop.evalset.json", agent="./agent.py:answer", scorers=[broken], pass_rate=0)
def test_shop(proctor):
    pass
"""
    result = ran(shop, text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*3 of 3 trials could not be measured; what is missing cannot pass."])


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ('"nowhere.evalset.json", agent="./agent.py:answer"', "*nowhere.evalset.json*"),
        ('"shop.evalset.json", agent="./agent.py:nobody"', "*nobody*"),
        ('"shop.evalset.json"', "*Name the agent in the marker proctor*fixture called 'agent'*"),
        ('agent="./agent.py:answer"', "*The marker proctor takes one task*"),
        (
            '"shop.evalset.json", agent="./agent.py:answer", thresholds={"nothing": 1}',
            "*No metric is called 'nothing'*",
        ),
        (
            '"shop.evalset.json", agent="./agent.py:answer", pass_rate=80',
            "*A threshold is a share from 0 to 1, not 80*",
        ),
    ],
)
def test_a_mistake_in_the_marker_is_one_clear_line(marker: str, said: str, shop: pytest.Pytester) -> None:
    result = ran(shop, f"import pytest\n\n@pytest.mark.proctor({marker})\ndef test_shop(proctor):\n    pass\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([said])
    assert "Traceback" not in result.stdout.str()


def test_a_file_that_cannot_be_read_is_told_when_its_cases_are_collected(shop: pytest.Pytester) -> None:
    shop.path.joinpath("shop.evalset.json").write_text('{"eval_set_id": 5}', encoding="utf-8")
    result = ran(shop, EACH)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*shop.evalset.json, line 1: *"])
    assert "Traceback" not in result.stdout.str()


def test_an_adk_folder_without_root_agent_says_so(shop: pytest.Pytester) -> None:
    pytest.importorskip("google.adk", reason="needs the extra 'adk'")
    folder = shop.path / "my_agent"
    folder.mkdir()
    folder.joinpath("__init__.py").write_text("")
    folder.joinpath("agent.py").write_text("x = 1\n")
    result = ran(shop, WHOLE.replace("./agent.py:answer", "adk:my_agent"), "-W", "default", apart=True)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*root_agent*"])


def test_junit_has_the_numbers_and_the_cases(shop: pytest.Pytester) -> None:
    _agent(shop, wrong="desk")
    ran(shop, WHOLE, "--junitxml", "out.xml").assert_outcomes(failed=1)
    root = ElementTree.fromstring(shop.path.joinpath("out.xml").read_text(encoding="utf-8"))
    found = {one.get("name"): one.get("value") for one in root.iter("property")}
    assert float(found["proctor.pass_rate"] or 0) == pytest.approx(2 / 3)
    assert found["proctor.case[desk]"] == "0/1"
    assert found["proctor.case[lamp]"] == "1/1"
    assert float(found["proctor.adk:response_match_score.accuracy"] or 0) == pytest.approx(1)


def test_a_run_can_be_kept(shop: pytest.Pytester) -> None:
    text = WHOLE.replace('answer"', 'answer", store="runs.db", run_id="nightly"')
    ran(shop, text).assert_outcomes(passed=1)
    shown = subprocess.run(
        [sys.executable, "-m", "proctor", "show", "nightly", "--store", "runs.db", "--json"],
        cwd=shop.path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(shown.stdout)["run"] == "nightly"


def test_paths_begin_where_the_test_is(shop: pytest.Pytester) -> None:
    folder = shop.path / "deep" / "tests"
    folder.mkdir(parents=True)
    for name in ("agent.py", "shop.evalset.json"):
        shop.path.joinpath(name).rename(folder / name)
    folder.joinpath("test_deep.py").write_text(EACH, encoding="utf-8")
    ran(shop, "", str(Path("deep") / "tests" / "test_deep.py")).assert_outcomes(passed=3)


def test_pytest_starts_without_anything_heavy() -> None:
    code = "import sys, proctor_ci.pytest_plugin; print([name for name in ('rich', 'httptools', 'msgspec', 'asyncio', 'proctor.api') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.strip()
    assert "rich" not in loaded
    assert "httptools" not in loaded
    assert "proctor.api" not in loaded


@pytest.mark.parametrize("thresholds", ['{"acuracy": 0.5}', '{"exact": 80}', "80"])
def test_a_threshold_that_nothing_can_meet_costs_no_call(shop: pytest.Pytester, thresholds: str) -> None:
    (shop.path / "questions.jsonl").write_text('{"question": "?", "answer": "x"}\n', encoding="utf-8")
    text = f"""
        import pathlib, pytest

        def agent(question):
            pathlib.Path({str(shop.path / "called")!r}).touch()
            return "x"

        @pytest.mark.proctor("questions.jsonl", agent=agent, scorers=["exact"], thresholds={thresholds})
        def test_it(proctor):
            pass
        """
    ran(shop, textwrap.dedent(text), apart=True).assert_outcomes(failed=1)
    assert not (shop.path / "called").exists()
