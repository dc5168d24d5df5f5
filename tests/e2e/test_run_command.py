"""`proctor run` and its neighbours, as a person types them."""

import json
import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from proctor.cli import app

CAPITALS = """
from proctor import Sample, Task

PLACES = {"fr": ("France", "Paris"), "it": ("Italy", "Rome"), "cn": ("中国", "北京"), "de": ("Germany", "Berlin")}

def capitals(only: str = "") -> Task:
    return Task(
        name="capitals",
        version="1",
        samples=[
            Sample.ask(id, f"Capital of {place}?", target=city, tags={"long": str(len(place) > 5).lower()})
            for id, (place, city) in PLACES.items()
            if only in id
        ],
        scorers=["exact"],
    )
"""

AGENT = """
def answer(question: str) -> str:
    return {"Capital of France?": "Paris", "Capital of 中国?": "北京"}.get(question, "Rome\\x1b[31m<script>")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "capitals.py").write_text(CAPITALS, encoding="utf-8")
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    return tmp_path


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def proctor(*arguments: str) -> Done:
    """A command in this process, which is quicker than a new one."""
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


def proctor_anew(*arguments: str) -> Done:
    """A command in a process of its own, which has loaded no file yet."""
    done = subprocess.run(
        [sys.executable, "-m", "proctor", *arguments], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    return Done(done.returncode, done.stdout, done.stderr)


def run(*more: str) -> dict[str, object]:
    done = proctor("run", "./capitals.py:capitals", "--agent", "./agent.py:answer", "--json", *more)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_run_prints_its_numbers_as_one_json_object(folder: Path) -> None:
    summary = run()
    assert set(summary) == {
        "run",
        "task",
        "agent",
        "state",
        "note",
        "outcomes",
        "estimates",
        "usage",
        "seconds",
        "target",
    }
    assert summary["outcomes"] == {"scored": 4}
    estimates = summary["estimates"]
    assert isinstance(estimates, list)
    main = next(one for one in estimates if one["name"] == "accuracy" and one["slice"] == "")
    assert (main["value"], main["scored"], main["planned"]) == (0.5, 4, 4)
    assert main["low"] < 0.5 < main["high"]
    assert {one["slice"] for one in estimates} == {"", "long=true", "long=false"}


def test_the_table_the_failures_and_one_story_are_harmless_and_in_both_languages(folder: Path) -> None:
    done = proctor("run", "./capitals.py:capitals", "--agent", "./agent.py:answer", "--run", "first")
    assert done.returncode == 0, done.stderr
    assert "50.0%" in done.stdout
    for arguments in (("show", "first", "--failures"), ("runs", "explain", "first", "it")):
        for lang, word in (("en", "Expected"), ("zh", "期望")):
            shown = proctor(*arguments, "--lang", lang)
            assert shown.returncode == 0, shown.stderr
            assert word in shown.stdout or "Rome" in shown.stdout
            assert "\x1b" not in shown.stdout


def test_reports_are_written_by_suffix_and_hold_no_script_but_their_own(folder: Path) -> None:
    run("--run", "first")
    for name in ("r.html", "r.md", "r.json", "r.xml"):
        done = proctor("runs", "report", "first", "--out", name, "--lang", "zh")
        assert done.returncode == 0, done.stderr
        text = (folder / name).read_text(encoding="utf-8")
        if name == "r.html":
            [script] = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
            assert f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}';" in text
            assert "script-src" not in text.replace("script-src 'sha256-", "", 1)
            assert re.findall(r"<script\b([^>]*)", text) == [' type="application/json" id="data"', ""]
        assert "\x1b" not in text
    refused = proctor("runs", "report", "first", "--out", "r.pdf")
    assert refused.returncode == 2
    assert ".html" in refused.stderr


def test_runs_are_listed_copied_and_deleted(folder: Path) -> None:
    run("--run", "first")
    assert "first" in proctor("runs").stdout
    assert proctor("runs", "copy", "first", "--to", "other.db").returncode == 0
    assert proctor("runs", "delete", "first", "--yes").returncode == 0
    assert "first" not in proctor("runs").stdout
    assert json.loads(proctor("show", "first", "--store", "other.db", "--json").stdout)["outcomes"] == {"scored": 4}
    missing = proctor("show", "frist", "--store", "other.db")
    assert missing.returncode == 2
    assert "first" in missing.stderr


def test_new_scores_are_given_to_a_stored_run_without_calling_the_agent(folder: Path) -> None:
    run("--run", "first")
    (folder / "agent.py").unlink()
    done = proctor("score", "--run", "first", "--scorer", "exact:contains", "--json")
    assert done.returncode == 0, done.stderr
    estimates = json.loads(done.stdout)["estimates"]
    assert {one["name"] for one in estimates} == {"exact.accuracy", "exact:contains.accuracy"}
    rome = [one for one in estimates if one["name"] == "exact:contains.accuracy" and not one["slice"]]
    assert rome[0]["value"] == 0.75
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    again = proctor("run", "--run", "first", "--json", "--quiet")
    assert {one["name"] for one in json.loads(again.stdout)["estimates"]} == {one["name"] for one in estimates}


def test_two_runs_are_compared_on_the_same_samples(folder: Path) -> None:
    run("--run", "a")
    done = proctor("run", "./capitals.py:capitals", "--agent", "baseline:oracle", "--run", "b", "--quiet")
    assert done.returncode == 0, done.stderr
    shown = proctor("compare", "a", "b", "--out", "c.html")
    assert shown.returncode == 0, shown.stderr
    assert "+50.0" in shown.stdout
    assert "no significant difference" in shown.stdout
    assert "<html" in (folder / "c.html").read_text(encoding="utf-8")


def test_recorded_replies_are_scored(folder: Path) -> None:
    lines = [{"id": "fr", "answer": "Paris"}, {"id": "cn", "answer": "上海"}]
    (folder / "replies.jsonl").write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    done = proctor("score", "./capitals.py:capitals", "--replies", "replies.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    main = json.loads(done.stdout)["estimates"][0]
    assert (main["value"], main["scored"], main["planned"], main["floor"], main["ceiling"]) == (0.5, 2, 4, 0.25, 0.75)


def test_a_dry_run_shows_the_first_prompt_and_calls_nothing(folder: Path) -> None:
    done = proctor("run", "./capitals.py:capitals", "--agent", "./agent.py:answer", "--dry-run", "--order", "official")
    assert done.returncode == 0, done.stderr
    assert "Capital of France?" in done.stdout
    assert proctor("runs").stdout == ""
    assert "Input: 4 requests or more" in done.stdout
    asked = ("--dry-run", "--attempts", "3", "--json")
    found = json.loads(proctor("run", "./capitals.py:capitals", "--agent", "./agent.py:answer", *asked).stdout)
    assert (found["samples"], found["requests"], found["images"]) == (4, 12, 0)
    assert found["characters"] % 3 == 0
    assert 0 < found["tokens"] < found["characters"]


def test_options_select_and_set(folder: Path) -> None:
    assert run("--set", "only=fr")["outcomes"] == {"scored": 1}
    assert run("--first", "2")["outcomes"] == {"scored": 2}
    assert run("--tag", "long=true")["outcomes"] == {"scored": 2}
    assert run("--id", "cn", "--attempts", "3")["outcomes"] == {"scored": 3}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "./capitals.py:captals", "--agent", "baseline:null"], "has no 'captals'"),
        (["run", "./nothing.py:x", "--agent", "baseline:null"], "There is no file"),
        (["run", "bfc", "--agent", "baseline:null"], "Did you mean 'bfcl'"),
        (["run", "./capitals.py:capitals", "--agent", "opnai:gpt"], "No agent is called 'opnai:gpt'"),
        (["run", "./capitals.py:capitals", "--agent", "baseline:nul"], "null"),
        (["run", "./capitals.py:capitals", "--agent", "./agent.py:anser"], "has no 'anser'"),
        (["run", "./capitals.py:capitals"], "Name the agent"),
        (["run"], "Name a task"),
        (["run", "./capitals.py:capitals", "--agent", "baseline:null", "--scorer", "exat"], "Did you mean 'exact'"),
        (["run", "./capitals.py:capitals", "--agent", "baseline:null", "--set", "onyl=fr"], "Did you mean 'only'"),
        (["run", "./capitals.py:capitals", "--agent", "baseline:null", "--id", "frr"], "Did you mean 'fr'"),
        (["run", "./capitals.py:capitals", "--agent", "baseline:null", "--limit", "0"], "limit must be at least 1"),
        (["run", "./capitals.py:capitals", "--agent", "baseline:null", "--run", "../x"], "cannot be a run id"),
        (["run", "--run", "nothing"], "nothing"),
        (["score", "./capitals.py:capitals", "--replies", "gone.jsonl"], "There is no file"),
        (["show", "nothing"], "nothing"),
        (["nothing"], "No command is called"),
    ],
)
def test_what_a_person_gets_wrong_is_named_and_exits_with_2(folder: Path, arguments: list[str], message: str) -> None:
    done = proctor(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_stored_run_cannot_go_on_with_other_code(folder: Path) -> None:
    run("--run", "first")
    again = proctor("run", "--run", "first", "--json")
    assert again.returncode == 0, again.stderr
    other = proctor("run", "./capitals.py:capitals", "--agent", "baseline:null", "--run", "first")
    assert other.returncode == 2
    assert "baseline:null" in other.stderr
    (folder / "agent.py").write_text("def answer(question):\n    return 'changed'\n", encoding="utf-8")
    changed = proctor_anew("run", "--run", "first")
    assert changed.returncode == 2
    assert "agent.py (agent)" in changed.stderr
