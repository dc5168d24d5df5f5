"""Declare checks, and find them by name: modules of a package, installed entry points, and paths."""

import pkgutil
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from types import FunctionType
from typing import Any, Literal, TypeVar
from weakref import WeakKeyDictionary

import msgspec

from proctor import registry
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor.runtime.entry_points import entry_points
from proctor_audit.findings import FindingClass, Invalidates

Need = Literal["scorer", "environment", "outcomes", "user_code", "others"]
CheckCost = Literal["none", "scorer", "model"]
Function = TypeVar("Function", bound=Callable[..., Any])
TASK_CHECKS = "proctor_audit.checks"
ENTRY_POINTS = "proctor.checks"
_CHECKS: "WeakKeyDictionary[Callable[..., Any], AuditCheck]" = WeakKeyDictionary()  # by their functions


class AuditCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A check: what it is called, what it says about itself, and the function that looks.

    Attributes:
        group: the family that it belongs to, such as A1 or I4.
        cls: what its findings are; where it has two classes, the stronger one.
        needs: what has to be there besides samples for it to be made.
        cost: whether it calls the scorer, or a model.
        title: one sentence for people.
        invalidates: of a check of trials: what its findings invalidate.
    """

    name: str
    group: str
    cls: FindingClass
    needs: tuple[Need, ...] = ()
    cost: CheckCost = "none"
    title: Sentence
    find: Callable[..., Any]
    invalidates: Invalidates | None = None


def check(
    *,
    group: str,
    cls: FindingClass,
    title: Sentence,
    needs: Sequence[Need] = (),
    invalidates: Invalidates | None = None,
) -> Callable[[Function], Function]:
    """Declare a function as a check; its name with dashes is that of the check."""

    def declare(function: Function) -> Function:
        _CHECKS[function] = AuditCheck(
            name=function.__name__.strip("_").replace("_", "-"),
            group=group,
            cls=cls,
            needs=tuple(needs),
            cost="scorer" if "scorer" in needs else "none",
            title=title,
            find=function,
            invalidates=invalidates,
        )
        return function

    return declare


def find_checks(package: str, chosen: Sequence[str] = (), skipped: Sequence[str] = ()) -> list[AuditCheck]:
    """Return the checks of a package with those that others install, in the order of groups and names.

    Args:
        chosen: names, groups or paths (`./checks.py:function`); only these. None means all.
        skipped: names or groups that are left out.

    Raises:
        BadInput: there is no such check.
    """
    by_path = {name: _declared(registry.load_object(name, "check"), name) for name in chosen if registry.is_path(name)}
    points = entry_points(ENTRY_POINTS) if package == TASK_CHECKS else ()
    installed = [_declared(point.load(), point.name) for point in points]
    known = {each.name: each for each in (*_in_package(package), *installed, *by_path.values())}
    groups = {each.group for each in known.values()}
    for name in (*chosen, *skipped):
        if name not in by_path and name not in known and name not in groups:
            raise registry.unknown("check", name, [*sorted(known), *sorted(groups)])
    wanted = {by_path[name].name if name in by_path else name for name in chosen}
    checks = [each for each in known.values() if not chosen or each.name in wanted or each.group in wanted]
    kept = [each for each in checks if each.name not in skipped and each.group not in skipped]
    return sorted(kept, key=lambda each: (each.group, each.name))


def _in_package(package: str) -> Iterator[AuditCheck]:
    for info in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        for value in vars(import_module(info.name)).values():
            declared = _check_of(value)
            if declared is not None and declared.find.__module__ == info.name:
                yield declared


def _check_of(value: object) -> AuditCheck | None:
    return _CHECKS.get(value) if isinstance(value, FunctionType) else None


def _declared(value: object, name: str) -> AuditCheck:
    declared = _check_of(value)
    if declared is None:
        raise BadInput(
            "'{name}' is no check: expected a function with the decorator proctor_audit.check.check.", name=name
        )
    return declared
