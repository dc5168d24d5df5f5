"""What every module of a plural room promises: it declares a part that fits its room, or it is none."""

import inspect
import pkgutil
import sys
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import proctor
from proctor import registry
from proctor.api import resolve
from proctor.core.errors import BadInput
from proctor.core.parts import AgentPart
from proctor.runtime.entry_points import entry_points

ROOMS = registry.ROOMS
PARTS = [(room, name) for room in ROOMS for name in room.names()]


def needed(function: Callable[..., Any], *, by_name: bool) -> list[str]:
    """Return the arguments that a function has to be given, by their names or in their order."""
    every = inspect.signature(function).parameters.values()
    given = [one for one in every if one.default is one.empty and one.kind is not one.VAR_POSITIONAL]
    return [one.name for one in given if (one.kind is one.KEYWORD_ONLY) == by_name]


ARGUMENTS = {
    "make": 2,
    "open": 1,
    "write": 3,
    "export": 3,
    "replies": 2,
    "evaluate": 3,
    "check_corpus": 1,
    "summarise": 2,
}


@pytest.mark.parametrize(("room", "name"), PARTS, ids=lambda value: getattr(value, "name", value))
def test_every_part_declares_functions_that_can_be_called_as_its_kind_says(room: Any, name: str) -> None:
    part = room.find(name)
    assert room.describe(name)
    for field in part.__struct_fields__:
        value = getattr(part, field)
        if (room.name, field) == ("task_kinds", "summarise"):  # takes the options of the task by their names
            continue
        if field in ARGUMENTS and value is not None:
            assert len(needed(value, by_name=False)) <= ARGUMENTS[field], field
            assert needed(value, by_name=True) == (["options"] if field == "write" and part.has_summary else []), field


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_a_module_that_declares_no_part_is_unknown(room: Any) -> None:
    packages = {point.value.rpartition(".")[0] for point in entry_points(f"proctor.{room.name}")}
    if find_spec(f"proctor.{room.name}") is not None:
        packages.add(f"proctor.{room.name}")
    folders = [folder for package in packages for folder in import_module(package).__path__]
    helpers = {module.name for module in pkgutil.iter_modules(folders)} - {
        name.replace("-", "_") for name in room.names()
    }
    assert room.names()
    for name in helpers:
        assert not room.knows(name)
        with pytest.raises(BadInput, match=f"No {room.what} is called '{name}'"):
            room.find(name)


@pytest.fixture
def entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    """Install one agent called `mine`, whose entry point names an object."""
    (tmp_path / "my_package-1.dist-info").mkdir()
    (tmp_path / "my_package-1.dist-info" / "entry_points.txt").write_text("[proctor.agents]\nmine = my_package:thing\n")
    monkeypatch.syspath_prepend(tmp_path)
    return lambda named: monkeypatch.setitem(sys.modules, "my_package", SimpleNamespace(thing=named))


def test_an_entry_point_names_a_part_or_the_one_function_that_is_needed(entry_point: Callable[[object], None]) -> None:
    def make(argument: str, options: Any) -> Any:
        return argument, options

    for named in (make, AgentPart(make=make)):
        entry_point(named)
        assert "mine" in registry.AGENTS.names()
        assert registry.AGENTS.find("mine").make is make


def test_an_entry_point_that_names_anything_else_says_what_is_expected(entry_point: Callable[[object], None]) -> None:
    entry_point(pkgutil)
    with pytest.raises(
        BadInput, match=r"my_package:thing: expected a module with PART = AgentPart\(\.\.\.\), or a function"
    ):
        registry.AGENTS.find("mine")


def test_a_misspelt_attribute_of_a_scorer_is_told_when_the_scorer_is_resolved(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def right(sample, trajectory):\n    return True\n\n\nright.inlnie = False\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"mine\.py:right' has an attribute 'inlnie'.* Did you mean 'inline'\?"):
        resolve.scorers([f"{path}:right"])


def test_plain_attributes_of_a_users_scorer_still_count(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    text = "class Right:\n    name, version, inline = 'mine', '7', True\n    def __call__(self, sample, trajectory):\n        return 1\n"
    path.write_text(f"{text}\n\nright = Right()\n", encoding="utf-8")
    [bound] = resolve.scorers([f"{path}:right"])
    assert (bound.name, bound.version, bound.inline) == ("mine", "7", True)


def test_a_misspelt_attribute_of_a_session_stops_the_run() -> None:
    class Session:
        sttae: Any = None

        async def send(self, turn: Any) -> Any:
            return []

    class Agent:
        name, tools = "mine", "text"

        def open(self, sample: Any, environment: Any) -> Any:
            return nullcontext(Session())

    task = proctor.Task(name="t", samples=[proctor.Sample.ask("a", "?", target="x")], scorers=["exact"])
    with pytest.raises(BadInput, match=r"'mine' has an attribute 'sttae'.* Did you mean 'state'"):
        proctor.evaluate(task, agent=Agent(), store=":memory:")
