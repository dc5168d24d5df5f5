"""Eval sets that cannot be run or changed: the command ends with 2, says where and why, and nothing is lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.cli import app

TURN = {"user_content": {"parts": [{"text": "Hi"}]}, "final_response": {"parts": [{"text": "Hello"}]}}
GOOD = {"eval_id": "good", "conversation": [TURN]}


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        app.main([str(word) for word in words])
    return int(ended.value.code or 0)


def _calls(*calls: Any) -> dict[str, Any]:
    return {"eval_id": "a", "conversation": [{**TURN, "intermediate_data": {"tool_uses": list(calls)}}]}


BAD = {
    "no cases": ({"eval_set_id": "s", "eval_cases": []}, "has no eval cases"),
    "empty conversation": ({"eval_set_id": "s", "eval_cases": [GOOD, {"eval_id": "a", "conversation": []}]}, "'a' has an empty conversation"),
    "arguments as text": ({"eval_set_id": "s", "eval_cases": [_calls({"name": "f", "args": "{}"})]}, "expected an object, got a text at $.eval_cases[0].conversation[0].intermediate_data.tool_uses[0].args"),
    "arguments as a list": ({"eval_set_id": "s", "eval_cases": [_calls({"name": "f", "args": [1]})]}, "expected an object, got a list"),
    "an id twice": ({"eval_set_id": "s", "eval_cases": [GOOD, GOOD]}, "the id 'good' is used twice at $.eval_cases[1].eval_id"),
    "mixed shapes": ([{"name": "a", "data": []}, {"query": "x"}], "shapes are mixed"),
    "no JSON": ("{", "line 1: it is no JSON"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_set_that_cannot_be_run_ends_with_2(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    value, said = BAD[name]
    path = tmp_path / "s.evalset.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1), encoding="utf-8")
    assert run("run", path, "--agent", "baseline:oracle", "--quiet") == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert str(path) in shown.err
    assert shown.out == ""


def test_the_good_cases_of_a_set_with_an_empty_one_can_be_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    path = tmp_path / "s.evalset.json"
    path.write_text(json.dumps(BAD["empty conversation"][0]), encoding="utf-8")
    assert run("run", f"{path}:good", "--agent", "baseline:oracle", "--quiet", "--json") == 0
    assert json.loads(capsys.readouterr().out)["outcomes"] == {"scored": 1}


@pytest.mark.parametrize(
    "words", [("delete", "good"), ("edit", "good", "--ask", "Bye"), ("add", "new", "--ask", "Bye")]
)
def test_a_file_that_changed_while_it_was_edited_stays_as_the_other_left_it(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from proctor.runtime import files
    from proctor_adapters.evalsets import write

    path = tmp_path / "s.evalset.json"
    path.write_text(json.dumps({"eval_set_id": "s", "eval_cases": [GOOD]}), encoding="utf-8")
    theirs = json.dumps({"eval_set_id": "theirs", "eval_cases": [GOOD]})

    def late(file: Path) -> Any:
        path.write_text(theirs, encoding="utf-8")
        return files.locked(file)

    monkeypatch.setattr(write, "locked", late)
    assert run("adk", "evalset", words[0], path, *words[1:]) == 2
    assert "was changed by someone else since it was read; nothing was written" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == theirs
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_validate_tells_of_every_file_whether_it_can_be_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    turn = '{"user_content": {"parts": [{"text": "Hi"}]}}'
    texts = {
        "good": f'{{"eval_set_id": "good", "eval_cases": [{{"eval_id": "a", "conversation": [{turn}]}}]}}',
        "bad": '{"eval_set_id": "bad",\n"eval_cases": [{"eval_id": "a", "conversation": [{"user_content": 3}]}]}',
        "nothing": '{"eval_set_id": "nothing", "eval_cases": [{"eval_id": "a", "conversation": []}]}',
        "none": '{"eval_set_id": "none", "eval_cases": []}',
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.evalset.json").write_text(text, encoding="utf-8")
    assert run("adk", "evalset", "validate", tmp_path) == 2
    shown = capsys.readouterr()
    assert "good.evalset.json: 1 cases can be run (current)." in shown.out
    assert "bad.evalset.json, line 2: expected an object, got a whole number at $.eval_cases[0]" in shown.err
    assert "'a' has an empty conversation" in shown.err
    assert "none.evalset.json has no eval cases" in shown.err
    assert run("adk", "evalset", "validate", tmp_path / "good.evalset.json") == 0
