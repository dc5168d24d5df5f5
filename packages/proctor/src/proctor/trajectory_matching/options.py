"""Define the options of the scorer of trajectories, and apply them to a sample."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from proctor.config import converted
from proctor.core.sample import Sample, ToolCall
from proctor.core.trajectory import Trajectory
from proctor.trajectory_matching import expectation
from proctor.trajectory_matching.arguments import ArgumentFault, ArgumentRules, check_matchers
from proctor.trajectory_matching.compare import CallComparison, compare
from proctor.trajectory_matching.expectation import ExpectedCall, Order, Policy
from proctor.trajectory_matching.explain import shown, sides
from proctor.trajectory_matching.pairing import CallPair, How

Check = Callable[[ExpectedCall, ToolCall], ArgumentFault | None]
Measure = Literal["f1", "precision", "recall", "passed", "efficiency"]


class CallMatchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options for comparing calls; those of a reference take precedence.

    measure: what the points are. order: `any_order`, `in_order` or `exact`. arguments: `equal`, `subset` (some may be
    left out), `superset` (others may be added) or `ignore`, for all tools or by tool. ignore: arguments that never count.
    tolerance: the relative difference that numbers may have. match: matchers by argument: `any`, `ignore`, or
    {regex|one_of|tolerance|absolute|schema|function: value}. partial: credit for the share of right arguments. pure:
    tools whose repeated equal calls are redundant, with `*`. before, needs, forbidden, most_calls, most_calls_of: rules,
    as in a reference. tool: the tool that `single_tool` looks for. silent: what an agent that answers in text and reports
    no call is: `unscored`, as nobody could see its calls, or `no_calls`, for one that reports every call it makes.
    """

    measure: Measure = "f1"
    order: Order = "any_order"
    arguments: Policy | dict[str, Policy] = "equal"
    ignore: tuple[str, ...] = ()
    tolerance: float = 0.0
    match: dict[str, object] = {}
    partial: bool = False
    pure: tuple[str, ...] = ()
    before: tuple[tuple[str, str], ...] = ()
    needs: dict[str, str] = {}
    forbidden: tuple[str, ...] = ()
    most_calls: int | None = None
    most_calls_of: dict[str, int] = {}
    tool: str = ""
    silent: Literal["unscored", "no_calls"] = "unscored"


def options_of(sample: Sample, **fixed: Any) -> CallMatchOptions:
    """Return the options that a sample brings itself, with some that are fixed."""
    given = sample.meta.get("trajectory")
    if given:
        return converted({**given, **fixed}, CallMatchOptions, "trajectory")
    return CallMatchOptions(**fixed) if fixed else CallMatchOptions()


def how_of(options: CallMatchOptions, defaults: Mapping[str, Mapping[str, object]]) -> How:
    """Return the options in the form that comparisons use; `defaults` are those in the schemas of tools."""
    check_matchers({"match": options.match}, where="trajectory", allow_code=True)
    by_tool = options.arguments if isinstance(options.arguments, dict) else {}
    rules = ArgumentRules(
        policy="equal" if isinstance(options.arguments, dict) else options.arguments,
        policy_of=by_tool,
        ignore=frozenset(options.ignore),
        tolerance=options.tolerance,
        match=options.match,
        defaults=defaults,
    )
    return How(
        rules=rules,
        order=options.order,
        partial=options.partial,
        pure=options.pure,
        before=options.before,
        needs=options.needs,
        forbidden=tuple(ExpectedCall(name=name) for name in options.forbidden),
        most_calls=options.most_calls,
        most_calls_of=options.most_calls_of,
    )


def says_something(expected: expectation.ExpectedCalls) -> bool:
    """True if anything is expected of calls."""
    rules = expected.forbidden or expected.needs or expected.most_calls is not None or expected.most_calls_of
    return expected.calls is not None or bool(expected.alternatives) or bool(rules)


def compared(
    sample: Sample, trajectory: Trajectory, *, check: Check | None = None, **fixed: object
) -> list[dict[str, object]]:
    """Return the calls of every turn with those it expects, as `details["sides"]` has them, for runs that another scorer scored.

    Args:
        check: finds a fault in calls that match by these rules, for a scorer that is stricter.
        fixed: options that come before those of the sample.

    Raises:
        BadInput: a reference that cannot be understood.
    """
    options = options_of(sample, **fixed)
    turns = [turn for turn in expectation.turns(sample, trajectory) if says_something(turn.expected)]
    several = len(turns) > 1
    return [
        side
        for turn in turns
        for side in sides(
            shown(_checked(compare(turn.expected, turn.made, how_of(options, turn.tools)), check)),
            turn.place + 1 if several else None,
        )
    ]


def _checked(found: CallComparison, check: Check | None) -> CallComparison:
    return (
        found
        if check is None
        else replace(found, entries=tuple(_entry(entry, found, check) for entry in found.entries))
    )


def _entry(entry: CallPair, found: CallComparison, check: Check) -> CallPair:
    if entry.kind != "matched" or entry.expected is None or entry.made is None:
        return entry
    fault = check(found.calls[entry.expected], found.made[entry.made])
    return entry if fault is None else replace(entry, kind="wrong arguments", faults=(fault,))
