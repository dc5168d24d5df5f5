"""Pages for a developer, a product manager and a user: what each is shown, and that a light is shown before it is green."""

import shlex
from collections.abc import Collection
from pathlib import Path

import pytest
from click.testing import CliRunner

import proctor
from proctor import Sample, Task
from proctor.cli import app
from proctor.core.errors import ProviderFailed
from proctor.reports.pages import Bullets, Code, HeadingBlock, Paragraph, ReportPage, TableBlock
from proctor_ci import readers

HOSTILE = "<script>alert(1)</script>\x1b[31m| `x`"
TASK = """
from proctor import Sample, Task


def task() -> Task:
    samples = [Sample.ask(str(n), str(n), target="yes", tags={"kind": "ab"[n % 2]}) for n in range(60)]
    return Task(name="t", samples=samples, scorers=["exact"])


def old(question: str) -> str:
    return "yes" if int(question) < 55 else "no"


def new(question: str) -> str:
    if int(question) == 3:
        raise RuntimeError("boom")
    return "yes" if int(question) < 40 else "no"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(name: str, right: Collection[int], *, count: int = 200, broken: Collection[int] = ()) -> proctor.Run:
    async def agent(question: str) -> str:
        if int(question) in broken:
            raise ProviderFailed("Overloaded.", kind="http_503")
        return "yes" if int(question) in right else HOSTILE

    samples = [Sample.ask(str(n), str(n), target="yes", tags={"kind": "ab"[n % 2]}) for n in range(count)]
    task = Task(name="t", samples=samples, scorers=["exact"], spread_by="kind")
    return proctor.evaluate(task, agent=agent, store="runs.db", run_id=name, max_failed=1.0)


def light(page: ReportPage) -> str:
    return next(
        block.tone for part in page.sections for block in part.blocks if isinstance(block, Paragraph) and block.tone
    )


def texts(page: ReportPage) -> str:
    found: list[str] = []
    for part in page.sections:
        found.append(str(part.title))
        for block in part.blocks:
            match block:
                case Bullets(items=items):
                    found += map(str, items)
                case TableBlock(columns=columns, rows=rows):
                    found += [" | ".join(map(str, row)) for row in [columns, *rows]]
                case Paragraph(text=text) | HeadingBlock(text=text) | Code(text=text):
                    found.append(str(text))
    return "\n".join(found)


@pytest.mark.parametrize(
    ("right", "count", "tone"),
    [(198, 200, "good"), (95, 200, "bad"), (165, 200, "open"), (10, 10, "open"), (20, 20, "open"), (1, 1, "open")],
)
def test_a_light_is_green_or_red_only_where_that_is_shown(right: int, count: int, tone: str) -> None:
    assert light(readers.run_page(make("r", range(right), count=count), "user", "en")) == tone


def test_the_card_says_what_it_can_do_and_from_how_much_that_is_known() -> None:
    run = make("r", {*range(0, 200, 2), *range(1, 80, 2)}, broken=[199])
    shown = texts(readers.run_page(run, "user", "en"))
    assert "You can rely on it for:\na: 100 of 100 (probably 96 to 100), tried on 100" in shown
    assert "Do not rely on it for:\nb: 40 of 100" in shown
    assert "tried on 199 requests" in shown
    assert "1 tries gave no result" in shown
    assert "About 70 of 100 requests are handled right; the true number is probably between " in shown
    assert "可以放心交给它" in texts(readers.run_page(run, "user", "zh"))


def test_a_policy_decides_what_is_good(folder: Path) -> None:
    run = make("r", range(160))
    policy = folder / "gate.toml"
    policy.write_text('[[rule]]\nmetric = "accuracy"\nat_least = 0.7\n')
    gate = proctor.gate(run, policy=policy)
    assert light(readers.run_page(run, "user", "en")) == "open"
    assert light(readers.run_page(run, "user", "en", gate)) == "good"
    assert light(readers.run_page(run, "product", "en", gate)) == "good"
    assert light(readers.gate_page(gate, run, None, "user", "en")) == "good"
    assert "No policy says what is good enough" in texts(readers.run_page(run, "product", "en"))


def test_the_product_page_has_the_decision_risks_money_and_earlier_runs() -> None:
    old, new = make("old", range(198)), make("new", range(150), broken=[7])
    shown = texts(readers.comparison_page(proctor.compare(old, new), (old, new), "product", "en"))
    assert "The new version is shown to be worse." in shown
    assert "kind=a: −24.0 points" in shown
    assert "Of 199 samples 48 are worse than before, and 0 are better." in shown
    assert "time | " in shown
    assert "new is worse than old: −24.1 points" in shown  # its trend
    run = texts(readers.run_page(new, "product", "en"))
    assert "0.5% of trials failed without an answer" in run
    assert "1 trials have no result; with them the number lies between 74.5% and 75.0%" in run


def test_the_developer_gets_commands_that_work(folder: Path) -> None:
    (folder / "parity.py").write_text(TASK)

    def call(*words: str) -> str:
        found = CliRunner().invoke(app, [*words, "--store", "runs.db"])
        assert found.exit_code == 0, found.output
        return found.stdout

    for name in ("old", "new"):
        call("run", "./parity.py:task", "--agent", f"./parity.py:{name}", "--run", name, "--max-failed", "1")
    run = proctor.open_run("new", store="runs.db")
    page = readers.run_page(run, "developer", "en")
    assert "agent failed | 1 | 1.7% [" in texts(page)
    commands = [
        line
        for part in page.sections
        for block in part.blocks
        if isinstance(block, Code)
        for line in block.text.splitlines()
    ]
    explain, again = (
        next(one for one in commands if one.startswith(f"proctor {word}")) for word in ("runs explain", "run ")
    )
    assert "boom" in texts(page)
    words = shlex.split(explain)
    assert words[:3] == ["proctor", "runs", "explain"]
    assert CliRunner().invoke(app, words[1:]).exit_code == 0
    words = shlex.split(again)
    found = CliRunner().invoke(app, [*words[1:2], "--store=again.db", *words[2:]])
    assert found.exit_code == 0, found.output
    (made,) = proctor.api.runs(store="again.db")
    assert (made.planned, made.agent) == (3, "./parity.py:new")


def test_pages_are_written_for_each_reader_and_what_a_model_wrote_is_text(folder: Path) -> None:
    make("old", range(190))
    make("new", range(150))
    (folder / "gate.toml").write_text('against = "old"\n[[rule]]\nmetric = "accuracy"\nnot_worse_by = 0.05\n')
    for reader in ("developer", "product", "user"):
        for number, words in enumerate((["runs", "report", "new"], ["compare", "old", "new"], ["ci", "gate", "new"])):
            for suffix in ("html", "md"):
                name = f"{number}-{reader}.{suffix}"
                call = [*words, "--for", reader, "--store", "runs.db", "-o", name]
                found = CliRunner().invoke(app, call)
                assert found.exit_code == (1 if words[:2] == ["ci", "gate"] else 0), found.output
                page = (folder / name).read_text()
                assert "<script>alert" not in page
                assert "\x1b" not in page + found.stdout
    refused = CliRunner().invoke(app, ["runs", "report", "new", "--for", "user", "-o", "x.xml", "--store", "runs.db"])
    assert (refused.exit_code, "x.xml" in refused.stderr) == (2, True)
