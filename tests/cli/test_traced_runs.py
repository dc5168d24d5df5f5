"""`proctor run --trace-to`, and `trace_to` in the settings of a project, also for a run that is resumed."""

from pathlib import Path

import pytest
from collector import OtlpReceiver

from proctor.cli import app


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        app.main([str(word) for word in words])
    return int(ended.value.code or 0)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f'{{"id": "s{number}", "question": "Capital {number}?", "answer": "Paris"}}' for number in range(3)]
    Path("questions.jsonl").write_text("\n".join(lines), encoding="utf-8")


WORDS = ("run", "questions.jsonl", "--agent", "baseline:oracle", "--scorer", "exact", "--quiet", "--store", "runs.db")


def names(receiver: OtlpReceiver) -> list[str]:
    return sorted(span["name"] for span in receiver.spans)


def test_a_run_is_traced_and_then_sent_again_under_the_same_ids(capsys: pytest.CaptureFixture[str]) -> None:
    with OtlpReceiver() as receiver:
        assert run(*WORDS, "--run", "r", "--trace-to", receiver.url) == 0
        assert names(receiver) == ["evaluate questions"] * 3 + ["invoke_agent baseline:oracle"] * 3
        ids = {span["spanId"] for span in receiver.spans}
        assert "Capital" not in str(receiver.spans)
        capsys.readouterr()
        assert (
            run("--lang", "zh", "runs", "export", "r", "--store", "runs.db", "--format", "otel", "--out", receiver.url)
            == 0
        )
        assert "3 条 trace" in capsys.readouterr().out
        assert len(receiver.spans) == 12
        assert {span["spanId"] for span in receiver.spans} == ids


def test_the_settings_hold_for_every_run_and_the_rest_of_one() -> None:
    with OtlpReceiver() as receiver:
        Path("proctor.toml").write_text(f'trace_to = "{receiver.url}"\ntrace_content = true\n', encoding="utf-8")
        run(*WORDS, "--run", "r", "--budget", "minutes=0.000001")
        before = len(receiver.spans)
        assert before < 6
        assert run("run", "--run", "r", "--store", "runs.db", "--quiet", "--budget", "minutes=5") == 0
        assert len(receiver.spans) == 6
        assert "Capital" in str(receiver.spans)


def test_a_wrong_address_ends_with_2_before_anything_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*WORDS, "--trace-to", "localhost") == 2
    assert "no address of a collector" in capsys.readouterr().err
    assert run(*WORDS, "--trace-content") == 2
    assert "goes with --trace-to" in capsys.readouterr().err
    assert not Path("runs.db").exists()
