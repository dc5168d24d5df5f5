import io
import json
import re
import subprocess
import sys
from pathlib import Path

import example_runs
import msgspec
import pytest
from memory_store import MemoryStore
from rich.console import Console

from proctor import Sample, Task, evaluate
from proctor.core.errors import BadInput
from proctor.core.run import Estimate, RunRecord
from proctor.reports import terminal
from proctor.reports.build import ReportData, build

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


async def made(make: str) -> tuple[ReportData, RunRecord, MemoryStore]:
    store = MemoryStore()
    run, estimates = await getattr(example_runs, f"{make}_run")(store)
    return build(run, store, estimates), run, store


def console(width: int = 120) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, width=width, highlight=False, color_system=None), out


async def test_the_table_shows_values_intervals_and_plots() -> None:
    report, _, _ = await made("small")
    to, out = console()
    terminal.terminal(report, "en", to)
    text = out.getvalue()
    row = next(line for line in text.splitlines() if "simple_python" in line)
    assert row.split() == [
        "simple_python",
        "50.0%",
        "9.5–90.5%",
        "├──────────●──────────┤",
        "2",
        "/",
        "3",
        "33.3–66.7%",
    ]
    for shown in (
        "agent failed (counts as 0)",
        "wrong parameter value",
        "not run: live, agentic",
        "2,884 input tokens",
        "! A file differs.",
    ):
        assert shown in text


async def test_a_table_has_no_row_where_a_scorer_never_applies() -> None:
    estimates = [
        Estimate(name=f"{scorer}.{metric}", slice=slice_, value=value, floor=value, ceiling=value, scored=n, planned=7)
        for scorer, metric, slice_, value, n in (
            ("call", "accuracy", "", 0.5, 7),
            ("call", "accuracy", "part=level-1/call", 0.5, 7),
            ("call", "accuracy", "part=level-1/response", None, 0),  # nothing there asks for a call
            ("rouge_l", "score", "", 0.25, 7),
            ("rouge_l", "points", "", 0.25, 7),
            ("rouge_l", "score", "part=level-1/response", 0.25, 7),
            ("rouge_l", "points", "part=level-1/response", 0.25, 7),
            ("rouge_l", "score", "part=level-1/call", None, 0),
            ("collaboration:recovery", "accuracy", "", None, 0),
        )
    ]
    recovery = Estimate(name="collaboration:recovery.accuracy", value=None, planned=7, floor=0, ceiling=1)
    estimates += [msgspec.structs.replace(recovery, slice=f"part=level-1/{part}") for part in ("call", "response")]
    store = MemoryStore()
    run, _ = await example_runs.small_run(store)
    run = msgspec.structs.replace(run, scorers=("call", "rouge_l", "collaboration:recovery"))
    to, out = console(99)
    terminal.terminal(build(run, store, estimates), "en", to)
    _, _, table = out.getvalue().partition("Whole run")
    assert [re.split(r" {2,}", line.strip(" ▸"))[0] for line in table.splitlines()[1:14]] == [
        *("call", "accuracy", "rouge_l", "mean score", "points", "collaboration:recovery", "accuracy"),
        *("By part", "call", "level-1/call", "rouge_l"),
        *("level-1/response · points", "level-1/response · mean score"),
    ]


async def test_the_table_is_in_chinese_too() -> None:
    report, _, _ = await made("small")
    to, out = console()
    terminal.terminal(report, "zh", to)
    assert "准确率" in out.getvalue()
    assert "Whole run" not in out.getvalue()


@pytest.mark.parametrize("width", [40, 80, 120])
async def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    report, run, store = await made("small")
    to, out = console(width)
    terminal.terminal(report, "en", to)
    terminal.failures(report, "en", to)
    terminal.explain(run, store, "simple_python_1", 0, "en", to)
    assert max(map(len, out.getvalue().splitlines())) <= width


async def test_failures_say_why_and_put_the_calls_side_by_side() -> None:
    report, _, _ = await made("small")
    to, out = console()
    terminal.failures(report, "en", to)
    text = out.getvalue()
    assert "bfcl: 0 / 1. Expected 5, got 50." in text
    assert re.search(r"height ✗ +5 +50", text)
    assert "Failed samples: 4\n" in text


async def test_a_run_without_failures_says_so() -> None:
    store = MemoryStore()
    run = example_runs.record("fine", planned=0)
    report = build(run, store, await example_runs.fill(store, run, []))
    to, out = console()
    terminal.failures(report, "en", to)
    assert out.getvalue() == "No sample failed.\n"


async def test_one_sample_is_told_from_question_to_verdict() -> None:
    _, run, store = await made("small")
    to, out = console()
    terminal.explain(run, store, "simple_python_1", 0, "en", to)
    text = out.getvalue()
    order = [
        "simple_python_1",
        "The same, in cm?",
        'geometry.area {"base": 10, "height": 50}',
        "Expected 5, got 50.",
        "412 input tokens",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


async def test_repeated_requests_are_told() -> None:
    _, run, store = await made("small")
    to, out = console()
    terminal.explain(run, store, "parallel_1", 0, "en", to)
    assert "asked again after status 503, waited 1.5 s" in out.getvalue()


async def test_a_sample_that_is_not_there_is_bad_input() -> None:
    _, run, store = await made("small")
    for sample_id, attempt, said in (
        ("nothing", 0, "No sample is called 'nothing'"),
        ("paralel_1", 0, "Did you mean 'parallel_1'"),
        ("parallel_1", 7, "no attempt 8 of the sample 'parallel_1'"),
    ):
        with pytest.raises(BadInput, match=said):
            terminal.explain(run, store, sample_id, attempt, "en", console()[0])


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_hostile_output_cannot_steer_the_terminal_or_the_markup(lang: str) -> None:
    report, run, store = await made("hostile")
    to, out = console(200)
    terminal.terminal(report, lang, to)
    terminal.failures(report, lang, to)
    terminal.explain(run, store, report.failures[0].sample_id, 0, lang, to)
    terminal.explain(run, store, "failed", 0, lang, to)
    text = out.getvalue()
    text.encode("utf-8")
    assert not STEERING.search(text)
    assert "␛[31mred" in text
    assert "[bold]markup[/bold]" in text


def test_rich_and_jinja_are_loaded_only_when_something_is_shown() -> None:
    script = (
        "import sys, proctor.reports.terminal, proctor.reports.render, proctor.exports.junit, proctor.exports.table\n"
        "print(*{'rich', 'jinja2', 'asyncio'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def judged_report(folder: Path) -> str:
    """Evaluate two questions with a scorer of the user's and a rubric, three attempts each, and print the run."""
    samples = [Sample.ask(str(n), f"q {n}", target="yes", tags={"level": str(n % 2)}) for n in range(4)]
    task = Task(name="support", samples=samples, scorers=["rubric:support-answer", "exact"])
    low = {"comment": "bad", "resolution": 1, "accuracy": 1, "tone": 1, "brevity": 1}
    replies = folder / "low.jsonl"
    replies.write_text(json.dumps({"when": "", "say": low}), encoding="utf-8")
    judge = f"scripted:{replies}"
    run = evaluate(task, agent=lambda question: "yes" if question in ("q 0", "q 2") else "no", judge=judge, attempts=3)
    to, out = console(80)
    terminal.terminal(build(run.record, run.store, run.estimates), "en", to)
    return out.getvalue()


def test_a_judged_run_names_each_scorer_once_and_marks_its_main_numbers(tmp_path: Path) -> None:
    table = judged_report(tmp_path).partition("Whole run")[2].partition("The intervals are about")[0].splitlines()
    assert [line.strip() for line in table].count("rubric:support-answer") == 2, "once here, once by level"
    assert [line.split()[1] for line in table if line.startswith("  ▸")] == ["mean", "accuracy"]
    scale = next(at for at, line in enumerate(table) if line.strip() == "Not in percent:")
    assert all("%" in line for line in table[2:scale])
    assert not any("%" in line for line in table[scale + 1 : scale + 6])
    assert any(line.startswith("  rubric:support-answer: judged") for line in table)
    assert "…" not in "".join(table), "no list of rows is cut"


def test_the_last_line_is_the_number_after_several_attempts_too(tmp_path: Path) -> None:
    text = judged_report(tmp_path)
    assert text.count("Where the noise comes from") == 1
    assert "Where the noise of the other scorers comes from is in the report" in text
    assert text.rstrip().splitlines()[-1].startswith("exact · accuracy: 50.0%")
