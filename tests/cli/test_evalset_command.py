"""`proctor adk evalset`: cases are listed, shown, added, changed and deleted, files migrated, merged and split."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from proctor.cli import app
from proctor_adapters.evalsets.read import read


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        app.main(["adk", "evalset", *(str(word) for word in words)])
    return int(ended.value.code or 0)


def _old(tmp_path: Path) -> Path:
    path = tmp_path / "old.evalset.json"
    path.write_text(
        json.dumps([{"name": one, "data": [{"query": f"Hi {one}", "reference": "Hello"}]} for one in "abc"])
    )
    return path


def _ids(path: Path) -> list[str]:
    return [case.eval_id for case in read(path).eval_set.eval_cases]


def test_a_case_is_added_changed_shown_and_deleted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "shop.evalset.json"
    words = ("--ask", "What does A cost?", "--answer", "100", "--call", 'price={"model": "A"}')
    assert run("add", path, "price", *words) == 0
    assert run("edit", path, "price", "--answer", "101") == 0
    capsys.readouterr()
    assert run("show", path, "price") == 0
    assert json.loads(capsys.readouterr().out) == {
        "eval_id": "price",
        "conversation": [
            {
                "user_content": {"parts": [{"text": "What does A cost?"}], "role": "user"},
                "final_response": {"parts": [{"text": "101"}], "role": "model"},
                "intermediate_data": {"tool_uses": [{"name": "price", "args": {"model": "A"}}]},
            }
        ],
    }
    assert run("add", path, "price", "--ask", "again") == 2
    assert "already" in capsys.readouterr().err
    assert run("delete", path, "prise") == 2
    assert "Did you mean 'price'" in capsys.readouterr().err
    assert run("delete", path, "price") == 0
    assert _ids(path) == []


def test_cases_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", _old(tmp_path)) == 0
    shown = capsys.readouterr().out
    assert "Hi a" in shown
    assert run("list", _old(tmp_path), "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["sets"]
    assert found["cases"][0] == {"id": "a", "turns": 1, "calls": 0, "question": "Hi a"}


def test_an_old_file_is_migrated_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, session = _old(tmp_path), tmp_path / "session.json"
    session.write_text('{"app_name": "app", "state": {"k": 1}}')
    before = path.read_text()
    assert run("migrate", path, "--session", session) == 0
    assert "nested list → 3 cases" in capsys.readouterr().err
    loaded = read(path)
    assert loaded.shape == "current"
    first = loaded.eval_set.eval_cases[0].session_input
    assert first is not None
    assert (first.app_name, first.user_id, first.state) == ("app", "", {"k": 1})
    assert (tmp_path / "old.evalset.json.bak").read_text() == before


def test_a_file_is_migrated_elsewhere(tmp_path: Path) -> None:
    path, out = _old(tmp_path), tmp_path / "new.evalset.json"
    before = path.read_text()
    assert run("migrate", path, "--out", out) == 0
    assert (path.read_text(), _ids(out)) == (before, ["a", "b", "c"])
    assert run("migrate", path, "--out", out) == 2
    assert run("migrate", path, path, "--out", tmp_path / "x.evalset.json") == 2


def test_files_are_split_and_merged(tmp_path: Path) -> None:
    path = _old(tmp_path)
    assert run("split", path, "--parts", 2) == 0
    parts = [tmp_path / f"old_{number}.evalset.json" for number in (1, 2)]
    assert [_ids(part) for part in parts] == [["a"], ["b", "c"]]
    assert run("split", path, "--parts", 2) == 2
    assert run("merge", *parts, "-o", tmp_path / "all.evalset.json") == 0
    assert _ids(tmp_path / "all.evalset.json") == ["a", "b", "c"]
    assert run("merge", path, path, "--out", tmp_path / "twice.evalset.json") == 2
    assert not (tmp_path / "twice.evalset.json").exists()


def test_a_case_is_taken_from_a_file_and_opened_in_the_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, source = tmp_path / "s.evalset.json", tmp_path / "case.json"
    case: dict[str, Any] = {"evalId": "one", "conversation": [{"userContent": {"parts": [{"text": "Hi"}]}}]}
    source.write_text(json.dumps(case))
    assert run("add", path, "--from", source) == 0
    editor = tmp_path / "editor.py"
    editor.write_text("import sys; p = sys.argv[1]; t = open(p).read(); open(p, 'w').write(t.replace('Hi', 'Bye'))")
    monkeypatch.setenv("VISUAL", f"{sys.executable} {editor}")
    assert run("edit", path, "one") == 0
    assert "Bye" in path.read_text()
    editor.write_text("import sys; open(sys.argv[1], 'w').write('{')")
    before = path.read_text()
    assert run("edit", path, "one") == 2
    assert "case.json, line 1" in capsys.readouterr().err
    assert path.read_text() == before


@pytest.mark.parametrize(
    "words", [("x",), ("x", "--ask", "a", "--call", "f={"), ("x", "--ask", "a", "--call", "f=[1]")]
)
def test_a_case_that_is_half_given_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.json"
    assert run("add", path, *words) == 2
    assert not path.exists()


def test_parity_with_adk_is_checked_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    corpus = Path(__file__).parents[1] / "data" / "adk_verdicts.jsonl"
    with pytest.raises(SystemExit) as ended:
        app.main(["data", "parity", "adk", str(corpus)])
    assert not ended.value.code
    assert "212 checked, 212 agree, 0 differ, 0 skipped" in capsys.readouterr().out


def test_a_run_of_a_set_is_exported_as_adk_keeps_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "store.db"
    for words in (
        ("run", _old(tmp_path), "--agent", "baseline:oracle", "--run", "r", "--quiet", "--store", store),
        ("runs", "export", "r", "--format", "adk", "--out", tmp_path / "history", "--store", store),
    ):
        with pytest.raises(SystemExit) as ended:
            app.main([str(word) for word in words])
        assert not ended.value.code, capsys.readouterr().err
    (path,) = (tmp_path / "history").iterdir()
    assert path.name.startswith("app_old_")
    found = json.loads(path.read_text())
    assert [case["final_eval_status"] for case in found["eval_case_results"]] == [1, 1, 1]


SCENARIOS = {
    "scenarios": [
        {"starting_prompt": "I want to travel.", "conversation_plan": "Book a hotel in Rome."},
        {"startingPrompt": "Hello", "conversationPlan": "Ask for a price.", "userPersona": "NOVICE"},
    ]
}


def test_scenarios_become_cases_and_those_that_are_there_are_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, source, session = tmp_path / "s.evalset.json", tmp_path / "scenarios.json", tmp_path / "session.json"
    source.write_text(json.dumps(SCENARIOS))
    session.write_text('{"app_name": "shop", "user_id": "u", "state": {"lang": "zh"}}')
    assert run("add", path, "one", "--ask", "hi") == 0
    assert run("add", path, "--scenarios", source, "--session", session) == 0
    assert "Added 2 cases" in capsys.readouterr().err
    source.write_text(json.dumps([*SCENARIOS["scenarios"], SCENARIOS["scenarios"][0]]))
    assert run("add", path, "--scenarios", source) == 0
    assert "Added 0 cases to" in (said := capsys.readouterr().err)
    assert "2 were there already" in said
    one, trip, _ = json.loads(path.read_text())["eval_cases"]
    assert one["eval_id"] == "one"
    assert trip["conversation_scenario"] == SCENARIOS["scenarios"][0]
    assert trip["session_input"]["state"] == {"lang": "zh"}


def test_scenarios_have_the_ids_of_google_adk(tmp_path: Path) -> None:
    scenarios = pytest.importorskip("google.adk.evaluation.conversation_scenarios", reason="needs the extra 'adk'")
    from hashlib import sha256

    path, source = tmp_path / "s.evalset.json", tmp_path / "scenarios.json"
    source.write_text(json.dumps(SCENARIOS))
    assert run("add", path, "--scenarios", source) == 0
    first = scenarios.ConversationScenarios.model_validate(SCENARIOS).scenarios[0]
    theirs = sha256(json.dumps(first.model_dump(), sort_keys=True).encode()).hexdigest()[:8]
    assert _ids(path)[0] == theirs


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"scenarios": []}, "has no scenarios"),
        ([{"starting_prompt": "x"}], "line 1: 'conversation_plan' is missing at $[0]"),
        ({"scenarios": [{"starting_prompt": 1, "conversation_plan": ""}]}, "expected a text, got a whole number"),
        ({"x": 1}, "the key 'x' is not known here"),
    ],
)
def test_what_holds_no_scenarios_is_refused(
    value: Any, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, source = tmp_path / "s.evalset.json", tmp_path / "scenarios.json"
    source.write_text(json.dumps(value))
    assert run("add", path, "--scenarios", source) == 2
    assert said in capsys.readouterr().err
    assert run("add", path, "one", "--scenarios", source) == 2
    assert not path.exists()
