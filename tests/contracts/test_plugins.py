"""Installed packages with parts: what one of them breaks is said with its name, and nothing else suffers."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import proctor
from proctor import i18n, registry
from proctor.api import resolve
from proctor.cli import app
from proctor.core.errors import BadInput, MissingExtra
from proctor.runtime import entry_points
from proctor_adapters import imports


def install_plugins(folder: Path, points: dict[str, dict[str, str]], **modules: str) -> None:
    """Write packages into a folder as an installer leaves them: the entry points of each as "room name" and its module."""
    for name, code in modules.items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    for package, named in points.items():
        info = folder / f"{package}-7.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 7\n")
        lines = [f"[proctor.{room}]\n{name} = {module}\n" for (room, name), module in ((key.split(), value) for key, value in named.items())]  # fmt: skip
        (info / "entry_points.txt").write_text("".join(lines))


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise ValueError('too old')", "ValueError: too old"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("from proctor.core.parts import NotAnyMore", "ImportError: cannot import name 'NotAnyMore'"),
        ("import sys; sys.exit('bye')", "SystemExit: bye"),
        ("x = (", "SyntaxError"),
    ],
)
def test_a_plugin_that_cannot_be_imported_is_named_with_its_package(code: str, said: str, plugins: Path) -> None:
    name = f"broken_{abs(hash(code))}"
    install_plugins(plugins, {"hurt": {f"{room.name} hurt": name for room in registry.ROOMS}}, **{name: code})
    for room in registry.ROOMS:
        with pytest.raises(
            BadInput, match=f"'hurt' of proctor.{room.name}, by hurt 7, raises when it is imported: {said}"
        ):
            room.find("hurt")
        assert room.names()


def test_what_works_goes_on_beside_a_broken_plugin(plugins: Path) -> None:
    named = {f"{room} aaa": "broken_here" for room in ("agents", "benchmarks", "imports", "scorers")}
    install_plugins(plugins, {"hurt": named}, broken_here="1 / 0")
    assert "bfcl" in dict(resolve.benchmarks())
    with pytest.raises(BadInput, match="No agent is called 'opena'"):
        resolve.agent("opena", {})
    (plugins / "log.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BadInput, match=r"'aaa' of proctor\.imports, by hurt 7, raises"):  # it might have known the file
        imports.read(plugins / "log.json")
    listed = CliRunner().invoke(app, ["list"])
    assert listed.exit_code == 0, listed.output
    assert "by hurt 7, raises when it is imported: ZeroDivisionError" in " ".join(listed.output.split())


def test_no_plugin_replaces_a_part_and_that_is_listed(plugins: Path) -> None:
    install_plugins(plugins, {"hurt": {"agents openai": "taking_over"}}, taking_over="raise ValueError")
    assert registry.AGENTS.find("openai").make.__module__ == "proctor.agents.openai"
    listed = CliRunner().invoke(app, ["list", "agents"])
    assert "Not replaced by the part of this name of hurt 7." in " ".join(listed.output.split())


def test_two_packages_with_one_name_are_told_apart_by_nobody(plugins: Path) -> None:
    code = "from proctor.core.parts import AgentPart\nPART = AgentPart(make=lambda argument, options: None)"
    install_plugins(plugins, {"one": {"agents mine": "first_agents"}, "two": {"agents mine": "second_agents"}}, first_agents=code, second_agents=code)  # fmt: skip
    with pytest.raises(
        BadInput, match=r"Several packages name 'mine' in proctor\.agents: (one|two) 7, (one|two) 7\. Uninstall"
    ):
        registry.AGENTS.find("mine")


def test_what_a_plugin_prints_is_no_result(plugins: Path) -> None:
    code = "print('HELLO')\nfrom proctor.core.parts import AgentPart\nfrom proctor.agents.baseline import PART"
    install_plugins(plugins, {"loud": {"agents loud": "loud_agents"}}, loud_agents=code)
    (plugins / "q.jsonl").write_text('{"id": "a", "question": "1 + 1?", "target": "2"}\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["run", "q.jsonl", "--agent", "loud:oracle", "--store", "r.db", "--json", "--quiet"])
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["outcomes"] == {"scored": 1}


def test_a_broken_package_stops_no_other_task_and_no_language(plugins: Path) -> None:
    install_plugins(
        plugins, {"hurt": {"task_files hurt": "broken_files", "locales hurt": "not_there"}}, broken_files="1 / 0"
    )
    (plugins / "mine.py").write_text(
        "from proctor import Sample, Task\ndef task():\n    return Task(name='t', samples=[Sample.ask('a', '?')], scorers=['exact'])\n"
    )
    assert resolve.task("./mine.py:task", {})[0].name == "t"
    i18n.catalogue.cache_clear()
    assert i18n.speak("Is a directory", "zh") == "它是目录"
    i18n.catalogue.cache_clear()


@pytest.mark.parametrize("code", ["1 / 0", "import sys; sys.exit('bye')", "command = gate = 7"])
def test_a_broken_command_and_a_broken_name_are_said_as_a_broken_part_is(code: str, plugins: Path) -> None:
    module = f"broken_{abs(hash(code))}"
    named = {"commands runs.hurt": f"{module}:command", "names hurt": f"{module}:hurt"}
    install_plugins(plugins, {"hurt": named}, **{module: code})
    said = CliRunner().invoke(app, ["--lang", "en", "runs", "hurt"])
    assert said.exit_code == 2
    assert "The entry point 'runs.hurt' of proctor.commands, by hurt 7, " in said.output
    with pytest.raises(
        BadInput, match=r"'hurt' of proctor\.names, by hurt 7, raises .* Update or uninstall that package"
    ):
        _ = proctor.hurt


def test_two_packages_with_one_command_are_told_apart_by_nobody(plugins: Path) -> None:
    code = "import click\ncommand = click.Command('x')"
    install_plugins(plugins, {"one": {"commands runs.x": "first_x:command"}, "two": {"commands runs.x": "second_x:command"}}, first_x=code, second_x=code)  # fmt: skip
    said = CliRunner().invoke(app, ["--lang", "en", "runs", "x"])
    assert (said.exit_code, "Several packages name 'runs.x' in proctor.commands" in said.output) == (2, True)


def test_a_part_that_says_what_it_needs_is_not_called_broken(plugins: Path) -> None:
    code = "from proctor.core.errors import needs\nwith needs('parquet', 'mine'):\n    import no_such_module"
    install_plugins(plugins, {"mine": {"agents wanting": "wanting_agents"}}, wanting_agents=code)
    with pytest.raises(MissingExtra, match=r"^mine needs the extra 'parquet'\. Install it with: "):
        registry.AGENTS.find("wanting")


def test_dashes_and_underscores_are_the_same_in_a_name(plugins: Path) -> None:
    code = "from proctor.agents.baseline import PART"
    install_plugins(plugins, {"mine": {"agents my_own": "own_agents", "agents my-other": "own_agents", "exports its-own": "own_agents"}}, own_agents=code)  # fmt: skip
    assert registry.AGENTS.find("my-own") is registry.AGENTS.find("my_own")
    assert registry.AGENTS.knows("my-own")
    assert resolve.agent("my-other:oracle", {})[1].name == "my-other:oracle"
    assert registry.EXPORTS.knows("its_own")


def test_a_module_is_imported_without_a_look_at_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_points, "entry_points", lambda group: pytest.fail("they are looked through"))
    for name in ("registry", "cli", "__wrapped__"):
        with pytest.raises(AttributeError):
            proctor.__getattr__(name)
