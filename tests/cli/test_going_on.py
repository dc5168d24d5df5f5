"""What a run that was broken off says of how to go on: a command that can be pasted."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli import app

COUNT = """
from pathlib import Path

from proctor import BadInput, Sample, Task

def count() -> Task:
    return Task(name="count", samples=[Sample.ask(str(n), str(n), target=str(n)) for n in range(5)], scorers=["exact"])

def answer(question):
    if question == "3" and not Path('mended').exists():
        raise BadInput("The key is refused.")
    return question
"""


@pytest.mark.parametrize("option", ["--store=my runs.db", "--store my runs.db", ""])
def test_the_hint_goes_on_with_the_run_it_names(option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "count.py").write_text(COUNT, encoding="utf-8")
    store = option.split(" ", 1) if option.startswith("--store ") else [option] if option else []
    command = ["run", "./count.py:count", "--agent", "./count.py:answer", "--concurrency", "1", "--quiet", *store]
    stopped = CliRunner().invoke(app, command)
    assert stopped.exit_code == 2
    hint = re.search(r"Go on with: proctor (.*)", stopped.stderr)
    assert hint is not None
    (tmp_path / "mended").touch()
    done = CliRunner().invoke(app, [*shlex.split(hint[1]), "--quiet"])
    assert done.exit_code == 0, done.output
