"""Whatever asks whether code is ours knows all of our packages."""

from pathlib import Path

import pytest

import proctor_adapters.agents.adk
import proctor_benchmarks.gaia.scorer
from proctor.api import sources
from proctor.core import own_code
from proctor.engine import blame, scoring
from proctor.scorers.lookup import is_inline

ROOT = Path(__file__).resolve().parents[2]
THEIRS = "def fail():\n    raise ValueError('no')\n"


def test_all_packages_are_known() -> None:
    assert set(own_code.PACKAGES) == {path.parent.name for path in ROOT.glob("packages/*/src/*/__init__.py")}
    assert len(own_code.own_folders()) == len(own_code.PACKAGES)


@pytest.mark.parametrize("package", own_code.PACKAGES)
def test_an_error_of_a_package_is_not_the_agents(package: str) -> None:
    """The file of the frame decides, so that code compiled under a name there stands for a fault in it."""
    folder = next(folder for folder in own_code.own_folders() if Path(folder).name == package)
    with pytest.raises(ValueError, match="no") as ours:
        _run(folder + "agents.py")
    assert not blame.is_of_the_agent(_without_this_file(ours.value))
    with pytest.raises(ValueError, match="no") as theirs:
        _run("/srv/theirs/agents.py")
    assert blame.is_of_the_agent(_without_this_file(theirs.value))
    assert "/srv/theirs/agents.py" in scoring.trace_of(_without_this_file(theirs.value))


def test_official_scorers_need_no_thread() -> None:
    assert is_inline(proctor_benchmarks.gaia.scorer.gaia)


def test_our_packages_are_not_among_the_files_of_a_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    agent = tmp_path / "agent.py"
    imports = "".join(f"import {package}.version, {package}\n" for package in own_code.PACKAGES)
    agent.write_text(imports + "import proctor_adapters.agents.adk\nimport helper\n", encoding="utf-8")
    tmp_path.joinpath("helper.py").write_text("", encoding="utf-8")
    assert set(sources.files_of("./agent.py")) == {"agent.py", "helper.py"}
    assert not sources.files_of(None, proctor_adapters.agents.adk.make)


def _run(file: str) -> None:
    space: dict[str, object] = {}
    exec(compile(THEIRS, file, "exec"), space)
    space["fail"]()  # type: ignore[operator]


def _without_this_file(error: BaseException) -> BaseException:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return error.with_traceback(trace)
