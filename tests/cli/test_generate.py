"""proctor data generate, as a person types it: what it prints, which files it writes, how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from writers import data_file, item

from proctor.cli import app

FAKES = Path(__file__).parents[1] / "fakes"
JUDGE = f"{FAKES / 'marking.py'}:model"
WRITER = """
import json, sys
sys.path.insert(0, {fakes!r})
from writers import item, writer

write = writer()
splendid = lambda prompt: json.dumps({{**json.loads(write(prompt)), "solution": "A splendid one: first we count."}})
never = lambda prompt: "I would rather not."
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_LANG", "en")
    (tmp_path / f"agent_{tmp_path.name}.py").write_text(WRITER.format(fakes=str(FAKES)), encoding="utf-8")


def agent(name: str = "write") -> str:
    [path] = Path().glob("agent_*.py")
    return f"./{path.name}:{name}"


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["data", "generate", *words])


def told(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_generating_writes_data_and_a_report_and_tells_each_item() -> None:
    result = run("aime", "-n", "3", "--agent", agent(), "-o", "out")
    assert result.exit_code == 0, result.output
    assert "gen_aime_1 · Algebra · 0 · " in result.stderr
    assert "3 of 3 items" in result.stderr
    assert result.stdout == ""
    [data] = Path("out").glob("aime_generated_*.json")
    assert len(json.loads(data.read_text(encoding="utf-8"))) == 3
    assert len(list(Path("out").glob("generation_report_*.md"))) == 1
    assert not list(Path("out").glob("comprehensive*"))


def test_a_run_goes_on_with_a_changed_writer_where_that_is_accepted() -> None:
    words = ("aime", "-n", "2", "--agent", agent(), "-o", "out", "--run", "mine", "--quiet")
    assert run(*words).exit_code == 0
    [path] = Path().glob("agent_*.py")
    path.write_text(path.read_text(encoding="utf-8") + "\nTEMPERATURE = 1\n", encoding="utf-8")
    assert "--accept-changes" in run(*words).stderr
    assert run(*words, "--accept-changes").exit_code == 0


def test_without_a_folder_files_go_where_the_source_puts_them() -> None:
    result = run("aime", "-n", "2", "--agent", agent("splendid"), "--judge", JUDGE, "--quiet")
    assert result.exit_code == 3, result.output
    assert len(list(Path("generated_data").glob("aime_generated_*.json"))) == 1
    [folder] = Path("evaluation_results").iterdir()
    assert {path.name for path in folder.iterdir()} == {"comprehensive_report.md", "comprehensive_report.html"}


def test_everything_at_once_ends_with_a_table_a_conclusion_and_the_report() -> None:
    real = data_file(Path("real.json"), [{"id": f"r{seed}", **item(700 + seed)} for seed in range(5)])
    result = run("aime", "-n", "4", "--agent", agent(), "--judge", JUDGE, "--reference", str(real), "-o", "out")
    assert result.exit_code == 3, result.output
    assert "mean of the judge" in result.stdout
    assert "There is not enough evidence" in " ".join(result.stdout.split())
    page = Path("out/comprehensive_report.md").read_text(encoding="utf-8")
    assert "## 4. Win rate" in page
    assert "real.json" in page


def test_the_end_tells_whether_thresholds_are_met_missed_or_open() -> None:
    bad = data_file(
        Path("bad.json"), [{"id": f"a{n}", **item(n, topic="dreadful", solution="dreadful " * 9)} for n in range(30)]
    )
    missed = run("aime", "--evaluate", str(bad), "--judge", JUDGE, "-o", "out", "--json")
    assert (missed.exit_code, told(missed)["verdict"]) == (1, "missed")
    good = data_file(Path("good.json"), [{"id": f"a{n}", **item(n)} for n in range(30)])
    met = run("aime", "--evaluate", str(good), "--judge", JUDGE, "-o", "out", "--json")
    assert (met.exit_code, told(met)["verdict"]) == (0, "met")
    assert told(met)["uncalibrated"] is True
    bare = run("aime", "--evaluate", str(good), "-o", "out", "--json")
    assert (bare.exit_code, told(bare)["verdict"]) == (3, "open")


def test_data_that_exists_needs_no_generator_where_its_name_tells(tmp_path: Path) -> None:
    data_file(
        Path("code_generated_1.json"),
        [{"id": "a", "problem": "Write a function that adds.", "answer": "x", "tests": []}],
    )
    found = run("--evaluate", "code_generated_1.json", "-o", "out")
    assert found.exit_code == 3, found.output
    assert "Programming tasks" in Path("out/comprehensive_report.md").read_text(encoding="utf-8")


def test_json_tells_the_checks_with_their_numbers() -> None:
    data = data_file(Path("d.json"), [{"id": f"a{n}", **item(n)} for n in range(12)])
    found = told(run("aime", "--evaluate", str(data), "--judge", JUDGE, "-o", "out", "--json"))
    by_name = {check["name"]: check for check in found["checks"]}
    mean = by_name["mean of the judge"]
    assert (mean["threshold"], mean["verdict"], mean["number"]["scored"]) == (4.0, "met", 12)
    assert mean["number"]["low"] <= mean["number"]["value"] <= mean["number"]["high"]
    assert by_name["approved by people"]["number"] is None
    assert found["files"] == ["out/comprehensive_report.md", "out/comprehensive_report.html"]


def test_when_nothing_is_written_the_command_says_so_and_ends_with_1() -> None:
    result = run("aime", "-n", "2", "--tries", "1", "--agent", agent("never"), "--judge", JUDGE, "-o", "out", "--json")
    assert result.exit_code == 1
    assert (told(result)["generated"], told(result)["data"]) == (0, None)
    assert [one["kind"] for one in told(result)["missing"]] == ["unreadable", "unreadable"]


def test_a_dry_run_shows_the_first_prompt_and_asks_nothing() -> None:
    result = run("aime", "-n", "7", "--topic", "Knots", "--dry-run")
    assert result.exit_code == 0
    assert result.stdout.startswith("7 items of aime; the first prompt:")
    assert "Knots" in result.stdout
    assert not list(Path().glob("**/*.json"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Say what to generate"),
        (("aimee", "--agent", "./a.py:x"), "Did you mean 'aime'"),
        (("aime",), "by which agent"),
        (("aime", "--agent", "./none.py:x"), "no file"),
        (("aime", "-n", "0", "--agent", "./a.py:x"), "x>=1"),
        (("aime", "--near", "7", "--agent", "./a.py:x"), "near is a share"),
        (("aime", "--reference", "none.json", "--agent", "./a.py:x"), "no file none.json"),
        (("aime", "--evaluate", "none.json"), "no file none.json"),
        (("aime", "--evaluate", "x.json", "-n", "3"), "--evaluate looks at data that exists"),
        (("./mine.toml", "--agent", "./a.py:x"), "mine.toml cannot be read"),
        (("--run", "nothing"), "Say what to generate"),
        (("--dry-run", "--run", "x"), "--dry-run goes with"),
    ],
)
def test_bad_input_is_told_and_ends_with_2(words: tuple[str, ...], message: str) -> None:
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert message in result.stderr


def test_a_stored_run_is_gone_on_with_by_its_name_alone() -> None:
    first = run("aime", "-n", "2", "--agent", agent(), "--run", "mine", "-o", "out", "--quiet")
    assert first.exit_code == 0, first.output
    again = run("--run", "mine", "-o", "again", "--json", "--quiet")
    assert again.exit_code == 0, again.output
    assert told(again)["generated"] == 2
    one, other = (next(Path(folder).glob("aime_generated_*.json")) for folder in ("out", "again"))
    assert one.read_bytes() == other.read_bytes()
    assert "other values of: count" in run("aime", "-n", "3", "--agent", agent(), "--run", "mine").stderr


def test_a_spent_budget_leaves_the_rest_and_ends_with_3() -> None:
    (Path("slow.py")).write_text(
        "import time\nfrom proctor.core.sample import Message\nfrom proctor.core.trajectory import Step, Usage\n"
        f"import sys; sys.path.insert(0, {str(FAKES)!r})\nfrom writers import writer\nwrite = writer()\n"
        "class Agent:\n"
        "    name, tools, concurrency = 'a', 'text', 1\n"
        "    def open(self, sample, environment):\n"
        "        from contextlib import nullcontext\n"
        "        return nullcontext(self)\n"
        "    async def send(self, turn):\n"
        "        return [Step(message=Message.of('assistant', write('')), usage=Usage(requests=1))]\n"
        "agent = Agent()\n",
        encoding="utf-8",
    )
    result = run(
        "aime", "-n", "6", "--agent", "./slow.py:agent", "--budget", "requests=2", "-o", "out", "--json", "--quiet"
    )
    assert result.exit_code == 3, result.output
    assert told(result)["generated"] == 2
    assert told(result)["outcomes"]["skipped"] == 4


def test_it_speaks_chinese() -> None:
    result = CliRunner().invoke(
        app, ["--lang", "zh", "data", "generate", "aime", "-n", "1", "--agent", agent(), "-o", "out"]
    )
    assert "1 个条目中完成 1 个" in result.stderr
    CliRunner().invoke(app, ["--lang", "en", "list"])  # the language of the process is chosen anew
