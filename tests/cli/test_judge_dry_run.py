"""--dry-run of the commands that ask judges, and what `explain` tells of them afterwards."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from proctor.cli import app

SCORES = dict.fromkeys(("correctness", "relevance", "completeness", "clarity"), 4)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("mine", "theirs"):
        rows = [{"id": n, "question": f"Q{n}?", "answer": f"{name} {n}"} for n in range(3)]
        Path(f"{name}.json").write_text(json.dumps(rows))
    replies = [
        {"when": '"winner"', "say": {"reason": "so", "winner": "A"}},
        {"when": "", "say": {"comment": "good", **SCORES}},
    ]
    Path("judge.jsonl").write_text("\n".join(map(json.dumps, replies)))
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(app, [*words])


def told(*words: str) -> dict[str, Any]:
    done = run(*words, "--dry-run", "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


RUBRIC = ("judge", "items", "mine.json", "--rubric", "answer-quality", "--judge", "scripted:judge.jsonl")


@pytest.mark.parametrize(
    ("more", "requests"), [((), 3), (("--repeats", "2"), 6), (("--judge-set", "each=true"), 12), (("--limit", "1"), 1)]
)
def test_the_requests_of_a_judge_are_counted_and_the_first_is_shown(more: tuple[str, ...], requests: int) -> None:
    found = told(*RUBRIC, *more)
    assert (found["requests"], found["exact"]) == (requests, True)
    assert "mine " in json.dumps(found["asked"][0]["prompt"])
    assert not Path("runs.db").exists()


def test_a_dry_run_prints_the_prompt_in_full_and_asks_nobody(folder: Path) -> None:
    Path("judge.jsonl").write_text('{"when": "never said", "say": ""}')
    done = run(*RUBRIC, "--dry-run")
    assert done.exit_code == 0, done.output
    assert "3 samples, 3 requests" in done.stdout
    assert "mine 0" in done.stdout
    assert '"clarity": ...' in done.stdout


def test_a_jury_and_its_members_are_counted() -> None:
    judges = ("--judge", "scripted:judge.jsonl") * 3
    assert told("judge", "items", "mine.json", "--rubric", "answer-quality", *judges)["requests"] == 9


def test_the_answers_of_a_stored_run_are_rehearsed() -> None:
    assert run(*RUBRIC, "--run", "j", "--quiet").exit_code == 0
    again = told("judge", "items", "--run", "j", "--rubric", "creative-writing", "--judge", "scripted:judge.jsonl")
    assert again["requests"] == 3
    assert told("judge", "items", "--run", "j")["requests"] == 3


def test_both_orders_of_every_pair_are_counted() -> None:
    pairs = ("judge", "winrate", "mine.json", "theirs.json", "--judge", "scripted:judge.jsonl")
    found = told(*pairs, "--repeats", "2")
    assert found["requests"] == 12
    first, second = (json.dumps(one["prompt"]) for one in found["asked"][:2])
    assert first.index("mine 0") < first.index("theirs 0")
    assert second.index("theirs 0") < second.index("mine 0")


def test_a_probe_is_counted_with_the_opinions_that_probes_share() -> None:
    found = told(
        "judge",
        "probe",
        "scripted:judge.jsonl",
        "--limit",
        "2",
        "--probe",
        "length",
        "--probe",
        "style",
        "--kind",
        "points",
    )
    assert found["requests"] == 2 * (1 + 1 + 1)


def test_explain_shows_what_a_judge_was_asked_and_said() -> None:
    assert run(*RUBRIC, "--run", "j", "--quiet").exit_code == 0
    done = run("runs", "explain", "j", "0")
    assert "rubric:answer-quality, scripted:judge.jsonl was asked (1 of 1):" in done.stdout
    assert "mine 0" in done.stdout
    assert "rubric:answer-quality, reply 1 of 1:" in done.stdout
    assert '"comment": "good"' in done.stdout or '"comment":"good"' in done.stdout


def test_explain_says_when_the_prompt_cannot_be_made_again(folder: Path) -> None:
    Path("mine.toml").write_text('[en]\ntask = "Judge."\n[[dimensions]]\nname = "clarity"\nen = { text = "Clear?" }\n')
    words = (
        "judge",
        "items",
        "mine.json",
        "--rubric",
        "mine.toml",
        "--judge",
        "scripted:judge.jsonl",
        "--run",
        "m",
        "--quiet",
    )
    assert run(*words).exit_code == 0
    Path("mine.toml").write_text('[en]\ntask = "Other."\n[[dimensions]]\nname = "clarity"\nen = { text = "Clear?" }\n')
    assert "has changed since" in run("runs", "explain", "m", "0").stdout
    Path("mine.toml").unlink()
    assert "mine.toml" in run("runs", "explain", "m", "0").stdout


def test_two_orders_are_explained_with_both_replies() -> None:
    assert (
        run(
            "judge", "winrate", "mine.json", "theirs.json", "--judge", "scripted:judge.jsonl", "--run", "w", "--quiet"
        ).exit_code
        == 0
    )
    done = run("runs", "explain", "w", "0")
    assert "was asked (2 of 2)" in done.stdout
    assert "reply 2 of 2" in done.stdout
