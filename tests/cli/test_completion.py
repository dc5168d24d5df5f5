"""Shells complete commands, options, runs and parts; bash does so for real."""

import subprocess
import sys
from pathlib import Path

import pytest

import proctor
from proctor import Sample, Task
from proctor.cli import app
from proctor.registry import AGENTS, BENCHMARKS, JUDGES, SCORERS, Room


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    store = str(tmp_path_factory.mktemp("completion") / "runs.db")
    task = Task(name="t", samples=[Sample.ask("1", "1", target="1")], scorers=["exact"])
    for name in ("first", "second"):
        proctor.evaluate(task, agent=lambda question: question, store=store, run_id=name)
    return store


@pytest.fixture
def complete(store: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> object:
    def ask(line: str) -> list[str]:
        words = line.split()
        monkeypatch.setenv("_PROCTOR_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) if line.endswith(" ") else len(words) - 1))
        monkeypatch.setenv("PROCTOR_STORE", store)
        with pytest.raises(SystemExit):
            app.main([], prog_name="proctor")
        return [one.partition(",")[2] for one in capsys.readouterr().out.split()]

    return ask


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("proctor comp", ["compare"]),
        ("proctor ci t", ["tier", "trends"]),
        ("proctor show f", ["first"]),
        ("proctor compare first ", ["second", "first"]),
        ("proctor runs delete s", ["second"]),
        ("proctor --lang zh ci gate f", ["first"]),
        ("proctor ci gate first --against s", ["second"]),
        ("proctor run bfc", ["bfcl"]),
        ("proctor run bfcl --agent opena", ["openai:", "openai_agents:"]),
        ("proctor run bfcl --scorer keyw", ["keywords"]),
        ("proctor run bfcl --scorer rubr", ["rubric:"]),
        ("proctor run bfcl --time", ["--time-limit"]),
        ("proctor run ./ta", ["./ta"]),
        ("proctor show first --store runs", ["runs"]),
        ("proctor runs report first --out re", ["re"]),
        ("proctor completion ", ["bash", "zsh", "fish"]),
    ],
)
def test_what_can_follow_is_completed(complete: object, line: str, found: list[str]) -> None:
    assert callable(complete)
    assert complete(line) == found


def test_the_description_of_a_run_cannot_be_taken_for_a_run_nor_steer_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(tmp_path / "runs.db")
    task = Task(name="t\nplain\nmade-up\x1b[31m", samples=[Sample.ask("1", "1", target="1")], scorers=["exact"])
    proctor.evaluate(task, agent=lambda question: question, store=store, run_id="first")
    words = {"_PROCTOR_COMPLETE": "zsh_complete", "COMP_WORDS": "proctor show ", "COMP_CWORD": "2"}
    for name, text in {**words, "PROCTOR_STORE": store}.items():
        monkeypatch.setenv(name, text)
    with pytest.raises(SystemExit):
        app.main([], prog_name="proctor")
    kind, run, description = capsys.readouterr().out.splitlines()
    assert (kind, run) == ("plain", "first")
    assert description.startswith("t plain made-up␛[31m · ")


def test_a_store_that_is_not_there_is_not_made(complete: object, tmp_path: Path) -> None:
    assert callable(complete)
    assert complete(f"proctor show --store {tmp_path}/none.db ") == []
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("room", [AGENTS, BENCHMARKS, JUDGES, SCORERS], ids=lambda room: room.name)
def test_the_parts_that_are_completed_are_those_that_there_are(room: Room) -> None:  # type: ignore[type-arg]
    from proctor.cli.completion import _parts

    assert sorted(name.replace("_", "-") for name in _parts(room.name)) == sorted(
        name.replace("_", "-") for name in room.names()
    )


def test_bash_completes_with_the_script(store: str, tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("proctor")
    asked = f"""PATH={program.parent}:$PATH; export PROCTOR_STORE={store}; eval "$(proctor completion bash)"
        COMP_WORDS=(proctor show f); COMP_CWORD=2; _proctor_completion proctor f show; echo "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "first", done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_have_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        app.main(["completion", shell], prog_name="proctor")
    assert "_PROCTOR_COMPLETE" in capsys.readouterr().out
