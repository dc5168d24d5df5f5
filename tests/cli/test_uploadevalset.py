"""`proctor adk uploadevalset`: exit codes, what is told, and going on; the interface itself is in tests/exports."""

import json
from pathlib import Path

import pytest
from cozeloop import CozeLoop
from endpoint import data

from proctor.cli import app
from proctor.transport.retry import RetryPolicy
from proctor_adapters.exports import cozeloop

PREFIX = "OBSERVABILITY_OPENTELEMETRY_COZELOOP_"


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cozeloop, "POLICY", RetryPolicy(attempts=2, attempts_at_first=2, wait_seconds=0.01))
    for name, value in (("SERVICE_NAME", "7"), ("EVALSET_ID", "42"), ("API_KEY", "secret-token")):
        monkeypatch.setenv(PREFIX + name, value)


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        app.main(["adk", "uploadevalset", *(str(word) for word in words)])
    return int(ended.value.code or 0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.evalset.json"
    cases = [
        {
            "eval_id": f"case-{number}",
            "conversation": [{"user_content": {"parts": [{"text": f"q{number}"}]}, "final_response": None}],
        }
        for number in range(120)
    ]
    path.write_text(json.dumps({"eval_set_id": "shop", "eval_cases": cases}), encoding="utf-8")
    return path


def test_ids_and_key_come_from_the_environment(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with CozeLoop() as server:
        assert run("--file", file, "--cozeloop-url", server.url) == 0
        assert "Uploaded 120 of 120 items" in capsys.readouterr().err
        assert server.batches == [100, 20]


def test_options_win_over_the_environment(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with CozeLoop(token="other", workspace="8", evalset="43") as server:
        monkeypatch.setenv("PROCTOR_COZELOOP_URL", f"{server.url}/")
        words = ("--cozeloop-workspace-id", "8", "--cozeloop-evalset-id", "43", "--cozeloop-api-key", "other")
        assert run("--file", file, *words) == 0
        assert len(server.items) == 120


def test_a_partial_upload_is_exit_code_1_names_the_items_and_goes_on(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with CozeLoop(refuses=lambda item: "forbidden" if item["input"] == "q3" else None) as server:
        assert run("--file", file, "--cozeloop-url", server.url) == 1
        shown = capsys.readouterr()
        assert shown.out == "case-3, turn 1: forbidden\n"
        assert "Uploaded 119 of 120 items" in shown.err
        assert run("--file", file, "--cozeloop-url", server.url, "--json") == 1
        assert json.loads(capsys.readouterr().out) == {
            "items": 120,
            "uploaded": 0,
            "before": 119,
            "rejected": [{"case": "case-3", "turn": 1, "reason": "forbidden"}],
        }
        assert server.batches == [100, 20, 1]


def test_a_server_that_breaks_in_the_middle_loses_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with CozeLoop() as server:
        assert run("--file", file, "--cozeloop-url", server.url) == 0
        assert run("--file", file, "--cozeloop-url", server.url) == 0
        assert server.batches == [100, 20]  # the second time there was nothing to send
        server.before.extend([data({}, 500)] * 2)
        assert run("--file", file, "--cozeloop-url", server.url, "--again") == 1
        assert "case-119, turn 1: It was not sent." in capsys.readouterr().out


def test_a_wrong_key_is_exit_code_2_after_one_request(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with CozeLoop() as server:
        assert run("--file", file, "--cozeloop-url", server.url, "--cozeloop-api-key", "wrong-token") == 2
        assert len(server.requests) == 1
    shown = capsys.readouterr().err
    assert "refuses the key" in shown
    assert "Uploaded 0 of 120 items" in shown
    assert "wrong-token" not in shown


def test_a_dry_run_shows_the_body_and_needs_no_server(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SERVICE_NAME", "EVALSET_ID", "API_KEY"):
        monkeypatch.delenv(PREFIX + name)
    assert run("--file", file, "--dry-run") == 0
    assert len(json.loads(capsys.readouterr().out)["items"]) == 120
    assert run("--file", file) == 2
    assert f"{PREFIX}SERVICE_NAME" in capsys.readouterr().err


@pytest.mark.parametrize("content", [None, "{", '{"eval_set_id": "x", "eval_cases": []}', '{"eval_cases": 1}'])
def test_an_unusable_file_is_exit_code_2(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "x.evalset.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    assert run("--file", path, "--cozeloop-url", "http://127.0.0.1:9") == 2


def test_the_file_is_asked_for() -> None:
    assert run() == 2
