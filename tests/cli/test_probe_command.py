import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proctor.cli import app

PROBES = ("--probe", "position", "--probe", "length", "--probe", "injection")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two judges: `fair` calls everything a tie and a 3, `first` always names what stands first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    points = dict.fromkeys(("correctness", "completeness", "relevance", "clarity"), 3)
    for name, winner in (("fair", "tie"), ("first", "A")):
        lines = [{"when": '"winner"', "say": {"reason": "", "winner": winner}}, {"comment": "", **points}]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "judge.toml").write_text(
        "\n".join(
            [
                '[en]\ntask = "Judge the answer."',
                *(f'[[dimensions]]\nname = "{name}"\nen = {{ text = "How is it?" }}' for name in points),
            ]
        )
    )
    return tmp_path


def test_a_fair_judge_is_acquitted_with_exit_code_0(folder: Path) -> None:
    done = _run("judge", "probe", "scripted:fair.jsonl", "--rubric", "judge.toml", "--quiet", *PROBES)
    assert done.exit_code == 0, done.output
    assert "Probes of scripted:fair.jsonl, by judge" in done.stdout
    assert done.stdout.count("no bias above 15%") == 5
    assert "biased" not in done.stdout.replace("no bias above 15%", "")


def test_a_biased_judge_gives_exit_code_1_and_a_page(folder: Path) -> None:
    done = _run("judge", "probe", "scripted:first.jsonl", "--rubric", "judge.toml", "--quiet", *PROBES, "-o", "page.md")
    assert done.exit_code == 1
    assert "biased" in done.stdout
    assert "100.0%" in done.stdout
    assert "| position |" in (folder / "page.md").read_text()


def test_few_items_give_exit_code_3(folder: Path) -> None:
    done = _run("judge", "probe", "scripted:fair.jsonl", "--rubric", "judge.toml", "--quiet", "--limit", "3", *PROBES)
    assert done.exit_code == 3
    assert "not enough evidence" in done.stdout


def test_a_smaller_margin_asks_for_more(folder: Path) -> None:
    probe = ("judge", "probe", "scripted:fair.jsonl", "--rubric", "judge.toml", "--quiet", *PROBES)
    assert _run(*probe, "--margin", "0.05").exit_code == 3


def test_json_has_every_finding(folder: Path) -> None:
    done = _run(
        "judge", "probe", "scripted:first.jsonl", "--rubric", "judge.toml", "--quiet", "--kind", "pairs", "--json"
    )
    told = json.loads(done.stdout)
    position = told["findings"][0]
    assert (told["judge"], told["rubric"]) == ("scripted:first.jsonl", "judge")
    assert (position["probe"], position["judged"], position["verdict"]) == ("position", "pairs", "biased")
    assert (position["value"], position["consistency"], position["words"]) == (1, 0, "biased by more than 15%")
    assert position["consistency_low"] == 0 < position["consistency_high"] < 0.5
    assert {one["judged"] for one in told["findings"]} == {"pairs"}


def test_the_table_speaks_chinese(folder: Path) -> None:
    done = _run("--lang", "zh", "judge", "probe", "scripted:fair.jsonl", "--rubric", "judge.toml", "--quiet", *PROBES)
    assert "没有超过 15% 的偏向" in done.stdout


def test_a_run_of_probes_goes_on_and_asks_nothing_again(folder: Path) -> None:
    probe = (
        "judge",
        "probe",
        "scripted:fair.jsonl",
        "--rubric",
        "judge.toml",
        "--quiet",
        "--json",
        "--run",
        "mine",
        *PROBES,
    )
    once = json.loads(_run(*probe).stdout)
    (folder / "fair.jsonl").write_text('"I am gone."\n')
    assert "fair.jsonl" in _run(*probe).stderr  # a changed judge is told first
    assert json.loads(_run(*probe, "--accept-changes").stdout)["findings"] == once["findings"]


def test_the_judge_of_the_settings_is_probed_when_none_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_JUDGE", "scripted:fair.jsonl")
    assert _run("judge", "probe", "--rubric", "judge.toml", "--quiet", *PROBES).exit_code == 0


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ((), "Name the model to probe"),
        (("scripted:nowhere.jsonl",), "nowhere.jsonl"),
        (("scripted:fair.jsonl", "--probe", "colour"), "No probe is called 'colour'"),
        (("scripted:fair.jsonl", "--items", "nowhere.jsonl"), "nowhere.jsonl"),
        (("scripted:fair.jsonl", "--margin", "2"), "margin lies between"),
        (("scripted:fair.jsonl", "-o", "page.pdf"), "ends in .md or .html"),
    ],
)
def test_what_cannot_be_probed_gives_exit_code_2(
    folder: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], why: str
) -> None:
    monkeypatch.delenv("PROCTOR_JUDGE", raising=False)
    done = _run("judge", "probe", *given, "--quiet", "--limit", "1")
    assert done.exit_code == 2
    assert why in " ".join(done.stderr.split())


def _run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "140"}).invoke(app, list(arguments))
