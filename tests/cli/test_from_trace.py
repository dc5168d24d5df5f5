"""`proctor adk evalset from-trace` and `proctor score --replies TRACE`, as a person calls them."""

import json
from pathlib import Path

import pytest

from proctor.cli import app
from proctor_adapters.evalsets.read import read

DATA = Path(__file__).parents[1] / "data" / "traces"


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        app.main([str(word) for word in words])
    return int(ended.value.code or 0)


def _secret(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": '[{"role": "user", "content": "I am ann@shop.example, order 42"}]',
        "gen_ai.output.messages": '[{"role": "assistant", "content": "Hello Ann."}]',
    }
    spans = [{"traceId": "a", "spanId": "a", "attributes": attributes}]
    spans.append({"traceId": "b", "spanId": "b", "attributes": {"gen_ai.operation.name": "chat"}})
    path.write_text("\n".join(map(json.dumps, spans)), encoding="utf-8")
    return path


def test_several_files_become_one_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "shop.evalset.json"
    files = [DATA / name for name in ("adk.jsonl", "langgraph.jsonl", "openllmetry.jsonl", "otlp.json")]
    assert run("adk", "evalset", "from-trace", *files, "-o", out) == 0
    assert len(read(out).eval_set.eval_cases) == 3
    said = capsys.readouterr().err
    assert "Traces: 7, spans: " in said
    assert "conversations: 3. " in said
    assert f"Wrote {out} with 3 cases." in said
    assert run("adk", "evalset", "from-trace", *files, "-o", out) == 2
    assert "is there already; nothing was written" in capsys.readouterr().err


def test_secrets_are_taken_out_and_what_is_left_out_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "shop.evalset.json"
    words = ("--redact-common", "--redact", r"order=\d+")
    assert run("adk", "evalset", "from-trace", _secret(tmp_path), "--out", out, *words) == 0
    assert "I am [email], order [order]" in out.read_text(encoding="utf-8")
    said = capsys.readouterr().err
    assert "Left out: b: it does not tell what the user said." in said
    assert "Traces: 2, spans: 2, conversations: 2. Cases: 1; left out: 1, as repeated: 0; places taken out: 3." in said


def test_a_dry_run_shows_the_cases_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "shop.evalset.json"
    assert run("adk", "evalset", "from-trace", _secret(tmp_path), "--out", out, "--dry-run") == 0
    assert not out.exists()
    assert "I am ann@shop.example" in capsys.readouterr().out


def test_the_counts_come_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("adk", "evalset", "from-trace", _secret(tmp_path), "--dry-run", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {key: found[key] for key in ("spans", "traces", "conversations", "cases", "twice", "left_out")} == {
        "spans": 2, "traces": 2, "conversations": 2, "cases": 1, "twice": 0, "left_out": 1,
    }  # fmt: skip
    assert found["sets"][0]["cases"][0]["question"].startswith("I am")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Say where the cases go"),
        (("--dry-run", "--redact", "("), "is not valid"),
        (("--dry-run", "--lang", "zh", "--redact", "("), "错误"),
    ],
)
def test_bad_input_ends_with_2(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("adk", "evalset", "from-trace", _secret(tmp_path), *words) == 2
    assert said in capsys.readouterr().err


def test_a_file_without_spans_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"eval_set_id": "s", "eval_cases": []}', encoding="utf-8")
    assert run("adk", "evalset", "from-trace", path, "--dry-run") == 2
    assert f"{path}, line 1: expected spans" in capsys.readouterr().err
    assert run("adk", "evalset", "from-trace", tmp_path / "nowhere", "--dry-run") == 2


def test_a_trace_is_scored_by_the_cases_that_came_out_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    out = tmp_path / "shop.evalset.json"
    assert run("adk", "evalset", "from-trace", DATA / "adk.jsonl", DATA / "langgraph.jsonl", "-o", out) == 0
    capsys.readouterr()
    assert run("score", out, "--replies", DATA / "adk.jsonl", "--scorer", "trajectory", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    [score] = [one for one in found["estimates"] if not one["slice"]]
    assert (score["value"], score["scored"], score["planned"]) == (1, 1, 2)
