"""Find parts by name: the only place that imports by name.

A name resolves as a path (`./my.py:task`), a module of that name in its package that declares a part, an installed entry
point (`proctor.benchmarks`, `proctor.agents`, ...), or `package.module:object`; else an error names the nearest match.
"""

import importlib
import importlib.util
import inspect
import pkgutil
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

import msgspec

from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput, MissingExtra
from proctor.core.near import did_you_mean, near
from proctor.core.packages import extra_by_name, extra_of, moved_module
from proctor.core.parts import (
    AgentPart,
    BenchmarkPart,
    EnvironmentPart,
    ExportPart,
    ImportPart,
    JudgePart,
    ModelPart,
    ReplyFilesPart,
    ScorerPart,
    StorePart,
    TaskFilesPart,
    TaskKindPart,
    UserPart,
)
from proctor.core.sentence import say
from proctor.runtime.entry_points import EntryPoint, entry_points, find_entry_point
from proctor.runtime.telemetry import switch_off

KNOWN_SHOWN = 40
LOADED = "proctor_user_"  # how the names of modules begin that were loaded from a path

P = TypeVar("P", bound=msgspec.Struct)


class Room(Generic[P]):
    """The parts of one kind: modules of a package that declare `PART`, and installed entry points.

    Args:
        what: the kind as messages name it.
        kind: the type that a part declares; the first of its fields is the function that an entry point may name alone.
        dashed: list `customer_service` as `customer-service`; either is understood.
        meant: other names that people look for, and the part that they mean.
        found_as: the kind of which users see this one as a part.
    """

    def __init__(
        self,
        name: str,
        what: str,
        kind: type[P],
        *,
        dashed: bool = False,
        meant: Mapping[str, str] = {},
        found_as: str = "",
    ) -> None:
        self.name = name
        self._group = f"proctor.{name}"
        self.what = what
        self.found_as = found_as
        self._kind = kind
        self._dashed = dashed
        self._meant = meant

    def names(self) -> list[str]:
        """Return every name that the room answers to."""
        public = [module.name for module in pkgutil.iter_modules(self._folders()) if not module.name.startswith("_")]
        own = filter(self._own, public)
        return sorted({*map(self._listed, own), *(self._listed(point.name) for point in self._points())})

    def missing(self) -> dict[str, str]:
        """Return the parts of our packages that are not installed, each with the extra that brings it."""
        return {name: extra for name, extra in extra_by_name(self._group).items() if not self.knows(name)}

    def knows(self, name: str) -> bool:
        """Return True if there is a part of this name; quicker than a search in `names`."""
        return self._own(name) is not None or bool(self._points(name))

    def find(self, name: str) -> P:
        """Return what the part of that name declares.

        Raises:
            BadInput: nothing is called so (the nearest names are in the message), or an entry point names something else.
            MissingExtra: it is in another package of Proctor, which is not installed.
        """
        own = self._own(name)
        if own is not None:
            return own
        if (point := find_entry_point(self._group, name)) is not None:
            return self._of_entry_point(point)
        meant = [self._meant[name]] if name in self._meant else []
        raise unknown(self.what, name, self.names(), meant=meant)

    def check_installed(self, name: str) -> None:
        """Refuse a name that no part here has.

        Raises:
            MissingExtra: it is in another package of Proctor, which is not installed.
        """
        if self._own(name) is None:
            find_entry_point(self._group, name)

    def each(self) -> Iterator[tuple[str, P]]:
        """Yield every part by name, those of installed packages last; at the end raise the fault of one that cannot be loaded."""
        faults: list[BadInput] = []
        for name in sorted(self.names(), key=lambda name: self._own(name) is None):
            try:
                part = self.find(name)
            except BadInput as error:
                faults.append(error)
                continue
            yield name, part
        for fault in faults:
            raise fault

    def describe(self, name: str) -> str:
        """Return the first line of what the module of a part says of itself; empty for a part that is no module."""
        module: object = self._module(name)
        if module is None and (points := self._points(name)):
            with suppress(BadInput):  # which `find` raises
                module = points[0].load()
        return (module.__doc__ or "").partition("\n")[0] if isinstance(module, ModuleType) else ""

    def in_vain(self, name: str) -> str:
        """Return the packages that have a part of the name of one of ours, which they cannot replace."""
        return "" if self._own(name) is None else ", ".join(point.owner for point in self._points(name))

    def _listed(self, name: str) -> str:
        return name.replace("_", "-") if self._dashed else name

    def _points(self, name: str | None = None) -> list[EntryPoint]:
        points = entry_points(self._group)
        return points if name is None else [point for point in points if point.is_called(name)]

    def _folders(self) -> list[str]:
        """Return where the kernel keeps parts of this kind; nowhere if all of them are in other packages."""
        spec = importlib.util.find_spec(f"proctor.{self.name}")
        return [] if spec is None else [*(spec.submodule_search_locations or ())]

    def _own(self, name: str) -> P | None:
        declared = vars(module).get("PART") if (module := self._module(name)) is not None else None
        return declared if isinstance(declared, self._kind) else None

    def _module(self, name: str) -> ModuleType | None:
        name = name.replace("-", "_")
        where = f"proctor.{self.name}.{name}"
        if not name.isidentifier() or name.startswith("_") or not self._folders():
            return None
        if importlib.util.find_spec(where) is None:
            return None
        return importlib.import_module(where)

    def _of_entry_point(self, point: EntryPoint) -> P:
        value = point.load()
        declared = vars(value).get("PART") if isinstance(value, ModuleType) else value
        if isinstance(declared, self._kind):
            return declared
        if callable(declared):
            return self._kind(**{self._kind.__struct_fields__[0]: declared})
        raise BadInput(
            "The entry point '{name}' of {group} names {value}: expected a module with PART = {kind}(...), or a function.",
            name=point.name,
            group=point.group,
            value=point.value,
            kind=self._kind.__name__,
        )


AGENTS = Room("agents", "agent", AgentPart)
BENCHMARKS = Room("benchmarks", "benchmark", BenchmarkPart, dashed=True)
ENVIRONMENTS = Room("environments", "environment", EnvironmentPart)
EXPORTS = Room(
    "exports", "export format", ExportPart, dashed=True, meant={"csv": "table", "jsonl": "table", "excel": "xlsx"}
)
IMPORTS = Room("imports", "import format", ImportPart, dashed=True)
JUDGES = Room("judges", "judge", JudgePart, found_as="scorer")
MODELS = Room("models", "model", ModelPart)
REPLY_FILES = Room("reply_files", "kind of reply files", ReplyFilesPart)
SCORERS = Room("scorers", "scorer", ScorerPart)
STORES = Room("stores", "store", StorePart)
TASK_FILES = Room("task_files", "kind of task files", TaskFilesPart)
TASK_KINDS = Room("task_kinds", "kind of task", TaskKindPart, dashed=True)
USERS = Room("users", "simulated user", UserPart)
ROOMS: tuple[Room[Any], ...] = (
    *(AGENTS, BENCHMARKS, ENVIRONMENTS, EXPORTS, IMPORTS, JUDGES),
    *(MODELS, REPLY_FILES, SCORERS, STORES, TASK_FILES, TASK_KINDS, USERS),
)


def offered(group: str, name: str, *, needed_for: str | None = None, what: str | None = None) -> Any:
    """Return what an installed package offers under a name of a group of entry points, such as a page for `proctor.readers`.

    Args:
        needed_for: what cannot be used without it, as the error calls it; the name if it is not given.
        what: the kind of it, as the error calls it; the group if it is not given.

    Raises:
        MissingExtra: it is in another package of Proctor, which is not installed.
        BadInput: it cannot be imported, or nothing is called so.
    """
    if (point := find_entry_point(f"proctor.{group}", name, needed_for=needed_for)) is not None:
        return point.load()
    raise unknown(what or group, name, [point.name for point in entry_points(f"proctor.{group}")], paths=False)


def unknown(
    what: str,
    name: str,
    known: Sequence[str],
    *,
    paths: bool = True,
    meant: Sequence[str] = (),
    most: int = KNOWN_SHOWN,
) -> BadInput:
    """Return the error for an unknown name, with similar and known names, and the hint that a path works too where it does.

    Args:
        meant: what may have been meant, where the nearest of the known names is not it.
        most: how many of the known names are listed.

    Raises:
        MissingExtra: it is the name of a part of a package of Proctor that is not installed.
    """
    for room in ROOMS:
        if what in (room.what, room.found_as):
            room.check_installed(name.partition(":")[0])
    nearest = meant or near(name, known)
    shown = ", ".join(known[:most]) + (", …" if len(known) > most else "")
    return BadInput(
        "No {what} is called '{name}'.{near}{known}{path}",
        what=say(what),
        name=name,
        near=did_you_mean(nearest),
        known=say(" Known: {known}.", known=shown) if known and most else "",
        path=say(" A path works too, for example ./{name}.py.", name=name) if paths and name.isidentifier() else "",
    )


def is_path(name: str) -> bool:
    """True if a name is a path to Python code: `./agent.py:object`, `/abs/agent.py`, `agent.py:object`.

    >>> is_path("./a.py:f"), is_path("bfcl/simple_python"), is_path("a.py")
    (True, False, True)
    """
    path = name.partition(".py")
    return path[1] == ".py" and path[2][:1] in ("", ":")


def names_object(name: str) -> bool:
    """True if a name is a path to Python code, or `package.module:object` of a package that can be imported, or of one of ours."""
    module, colon, attribute = name.partition(":")
    package = module.partition(".")[0]
    is_name = bool(colon) and attribute.isidentifier() and package.isidentifier()
    try:
        is_module = is_name and (extra_of(package) is not None or importlib.util.find_spec(package) is not None)
        return is_path(name) or is_module
    except ValueError:  # `__main__` of a script
        return False


def load_object(name: str, default: str) -> Any:
    """Load the object of `./file.py:object` or `package.module:object`; `default` is the object's name if none is given.

    Raises:
        BadInput: no such file, module or object, or the code raises when imported.
        MissingExtra: the module is in a package of Proctor that is not installed.
    """
    switch_off()
    where, _, attribute = name.rpartition(":") if ":" in name else (name, "", "")
    module = _load_file(where) if is_path(name) else _load_module(where, name)
    value: Any = module
    for part in (attribute or default).split("."):
        if not hasattr(value, part):
            raise _no_object(where, part, module)
        value = getattr(value, part)
    return value


def _no_object(where: str, part: str, module: ModuleType) -> BadInput:
    """Return the error for an object that a module does not have; what it only imports is not suggested."""
    own = [
        key
        for key, value in [*vars(module).items()]  # which a module with lazy attributes adds to when it is looked at
        if not key.startswith("_") and not isinstance(value, ModuleType) and _is_made_in(value, module)
    ]
    own.sort(key=lambda key: not callable(vars(module)[key]))  # an agent, a task or a scorer is called
    if not own:
        return BadInput("{where} has no '{part}', and defines nothing else.", where=where, part=part)
    return BadInput(
        "{where} has no '{part}'. Write {example}. It has: {known}.",
        where=where,
        part=part,
        example=f"{where}:{(near(part, own) or own)[0]}",
        known=", ".join(own),
    )


def _is_made_in(value: object, module: ModuleType) -> bool:
    """True unless it is a function or a class of another module."""
    is_named = inspect.isclass(value) or inspect.isroutine(value)
    return not is_named or value.__module__ == module.__name__


def path_of(module: str) -> str | None:
    """Return the path of a module that was loaded from one, such as `./agent.py`; None for any other module."""
    if not module.startswith(LOADED) or module not in sys.modules:
        return None
    path, here = Path(str(sys.modules[module].__file__)), Path.cwd()
    return f"./{path.relative_to(here).as_posix()}" if path.is_relative_to(here) else str(path)


def _load_file(where: str) -> ModuleType:
    path = Path(where).expanduser().resolve()
    if not path.is_file():
        there = {file.name: f"./{file.name}" for file in sorted(path.parent.glob("*.py"))}
        similar = [there[other] for other in near(path.name, there)]
        raise BadInput("There is no file {path}.{near}", path=path, near=did_you_mean(similar))
    name = f"{LOADED}{path.stem}_{digest_bytes(str(path).encode())[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadInput("{path} cannot be loaded as Python.", path=path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as `python file.py` does, so that it can import its neighbours
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise import_failed(str(path), error) from error
    return module


def _load_module(where: str, name: str) -> ModuleType:
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError as error:
        if f"{where}.".startswith(f"{error.name}."):
            if (moved := moved_module(where)) is not None:
                return _load_module(moved, name)
            if error.name == where.partition(".")[0] and (extra := extra_of(where)) is not None:
                raise MissingExtra(extra, name) from error
        raise BadInput("{name}: there is no module '{missing}'.", name=name, missing=error.name or where) from error
    except (Exception, SystemExit) as error:
        raise import_failed(where, error) from error


def import_failed(path: str, error: BaseException) -> BadInput:
    """Return the error for code that raises when it is imported, with the line where it does."""
    if isinstance(error, SystemExit):
        return BadInput(
            "{path} ends the program when it is imported. Put what only a program does under: if __name__ == '__main__':",
            path=path,
        )
    lines = [
        say(" ({file}, line {line})", file=Path(frame.filename).name, line=frame.lineno or 0)
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and not frame.filename.startswith("<frozen")
    ]
    return BadInput(
        "{path} raises when it is imported: {kind}: {error}{line}",
        path=path,
        kind=type(error).__name__,
        error=error,
        line=lines[-1] if lines and not isinstance(error, SyntaxError) else "",
    )
