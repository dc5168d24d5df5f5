"""What others wrote reaches a terminal only through `visible`: no escape, no C1 control, no turned line."""

import ast
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import proctor.cli
from proctor.cli import app, output

COMMANDS = sorted(Path(proctor.cli.__file__).parent.glob("*.py"))
HARMFUL = "\x1b]52;c;ZXZpbA==\x07 \x9b31m \u202e \x08"
SAFE = {"line", "message", "tell", "json_text", "visible", "one_line"}


def raw_prints(path: Path) -> list[str]:
    """Calls that print to the terminal something that went through none of ours."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name in ("print", "click.echo", "click.secho") and not _is_safe(node):
            found.append(f"{path.name}:{node.lineno}: {name}")
    return found


def _is_safe(call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Call):  # t(...) with values that went through
        names = {ast.unparse(node.func) for node in ast.walk(first) if isinstance(node, ast.Call)}
        return bool(names & SAFE)
    return first is None or isinstance(first, ast.Constant)


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.name)
def test_no_command_prints_past_what_makes_texts_visible(path: Path) -> None:
    if path.name == "output.py":
        return
    assert not raw_prints(path)


def test_json_on_a_terminal_holds_no_controls_and_reads_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"name": HARMFUL + "\U000e0041 \n\t"}
    output.print_json(value)
    printed = capsys.readouterr().out
    assert json.loads(printed) == value
    assert not set(printed) & set("\x1b\x07\x9b\u202e\x08\U000e0041")


def assert_harmless(text: str) -> None:
    assert not set(text) & set("\x1b\x07\x9b\u202e\x08"), ascii(text)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    row = {
        "id": f"a{HARMFUL}",
        "question": f"Why {HARMFUL}?",
        "answer": HARMFUL,
        "problem": HARMFUL,
        "level": HARMFUL,
        "tags": {HARMFUL: HARMFUL},
    }
    (tmp_path / "hostile.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    case = {
        "eval_set_id": HARMFUL,
        "eval_cases": [
            {
                "eval_id": HARMFUL,
                "conversation": [
                    {
                        "user_content": {"parts": [{"text": HARMFUL}], "role": "user"},
                        "final_response": {"parts": [{"text": HARMFUL}], "role": "model"},
                    }
                ],
            }
        ],
    }
    (tmp_path / "hostile.evalset.json").write_text(json.dumps(case), encoding="utf-8")
    review = {"reviewers": [HARMFUL], "labels": {}}
    (tmp_path / "hostile_review.json").write_text(json.dumps(review), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "run hostile.jsonl --agent baseline:echo --dry-run",
        "run hostile.jsonl --agent baseline:echo --run one",
        "run hostile.jsonl --agent baseline:echo --run one --json",
        "show one --failures",
        "show one --json",
        "runs",
        "runs --json",
        "runs explain one a",
        "run hostile.evalset.json --agent baseline:oracle --run two",
        "adk evalset list hostile.evalset.json",
        "adk evalset show hostile.evalset.json",
        "adk evalset validate hostile.evalset.json",
        "data generate aime --reference hostile.jsonl --dry-run",
        "judge review hostile.jsonl --statistics",
        "judge review hostile.jsonl --statistics --json",
        "list",
        f"run {HARMFUL.split(maxsplit=1)[0]} --agent baseline:echo",
        f"show {HARMFUL.split(maxsplit=1)[0]}",
    ],
)
def test_hostile_texts_reach_no_terminal_raw(here: Path, command: str) -> None:
    runner = CliRunner()
    for first in ("run hostile.jsonl --agent baseline:echo --run one --quiet",):
        runner.invoke(app, first.split())
    done = runner.invoke(app, command.split(" "))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert_harmless(done.output)
    assert_harmless(done.stderr)
