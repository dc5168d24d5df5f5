"""Read the policy of a gate: a TOML file with the rules that a run has to meet.

    error = 0.05
    looks = 2

    [[rule]]
    metric = "accuracy"
    at_least = 0.85

    [[rule]]
    metric = "latency"
    quantile = 0.95
    at_most = 20

Everything that can be wrong with a file is found here, with its line; what a run does not have, such as a metric, when the
rules meet that run.
"""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from proctor.api.resolve import benchmark
from proctor.config import converted, unknown_option
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.main_number import AMOUNTS, FAILED
from proctor.core.sentence import Sentence, say
from proctor.runtime.files import reading
from proctor.runtime.toml_file import parse_toml

Kind = Literal["at_least", "at_most", "not_worse_by", "better_by"]
KINDS: tuple[Kind, ...] = ("at_least", "at_most", "not_worse_by", "better_by")
COMPARING: tuple[Kind, ...] = ("not_worse_by", "better_by")
LOWER_IS_BETTER = (FAILED, *AMOUNTS)
FILE = "gate.toml"
ERROR = 0.05
MOST_BYTES = 1_000_000
MOST_RULES = 200
MOST_LOOKS = 2
FIRST_LOOK = 0.8  # of the error, where a second look may follow
_HEADER = re.compile(r"\s*\[\[\s*['\"]?rule['\"]?\s*\]\]")


class RuleTable(msgspec.Struct, frozen=True, kw_only=True):
    """A rule as the file has it; exactly one of `at_least`, `at_most`, `not_worse_by` and `better_by` is given.

    Attributes:
        metric: a scorer, an estimate of a run, or `failed`, `latency`, `cost`, `tokens`.
        at_least, at_most: a threshold.
        not_worse_by, better_by: a margin towards the baseline; of latency, cost and tokens a share of the baseline's.
        slice: `key=value`, for a part of the samples.
        each: a tag; the rule holds for every value of it.
        quantile: of latency, cost or tokens, in place of the mean.
        error: the greatest chance of a wrong GO, or NO-GO, by this rule.
        by: decide by the bounds, if the samples represent others; or by the observed value, if only they matter.
    """

    metric: str
    at_least: float | None = None
    at_most: float | None = None
    not_worse_by: float | None = None
    better_by: float | None = None
    slice: str = ""
    each: str = ""
    quantile: float | None = None
    error: float | None = None
    by: Literal["interval", "value"] = "interval"


class PolicyRule(RuleTable, frozen=True, kw_only=True):
    """A rule with its place in the file; `line` is 0 where it is not known."""

    line: int = 0

    @property
    def kind(self) -> Kind:
        return next(kind for kind in KINDS if self.given[kind] is not None)

    @property
    def given(self) -> Mapping[Kind, float | None]:
        """Return the threshold or the margin of a rule, keyed by its kind."""
        return {
            "at_least": self.at_least,
            "at_most": self.at_most,
            "not_worse_by": self.not_worse_by,
            "better_by": self.better_by,
        }

    @property
    def bound(self) -> float:
        return self.given[self.kind] or 0.0

    @property
    def compares(self) -> bool:
        return self.kind in COMPARING


class GatePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of a gate, all of which must hold.

    Attributes:
        against: the run, or the named baseline, that rules compare with, unless another one is named.
        error: of the rules that name none.
        looks: how many gates may decide about a run: a second one after it has drawn more samples.
        path, digest: of the file; '' where the rules did not come from one.
    """

    rules: tuple[PolicyRule, ...]
    against: str = ""
    error: float = ERROR
    looks: int = 1
    path: str = ""
    digest: str = ""

    def error_of(self, rule: PolicyRule, *, look: int = 0, is_last: bool = True) -> float:
        """Return the error of a rule at a look, of which all together make at most the error of the rule."""
        error = self.error if rule.error is None else rule.error
        if self.looks < MOST_LOOKS or (look == 0 and is_last):
            return error
        return error * (FIRST_LOOK if look == 0 else 1 - FIRST_LOOK)

    def place(self, rule: PolicyRule) -> str:
        """Return where a rule is written, for messages."""
        return f"{self.path or FILE}:{rule.line}" if rule.line else self.path or FILE


def default_policy() -> GatePolicy:
    """Return the policy where none is written: the main metric is not worse than the baseline's by more than 5 points."""
    return GatePolicy(rules=(PolicyRule(metric="", not_worse_by=0.05),), looks=MOST_LOOKS)


def find_policy(name: str | Path) -> GatePolicy:
    """Return the policy of a file, or the one that a task of this name brings.

    Raises:
        BadInput: there is neither, or something in it is wrong.
    """
    if not Path(name).is_file() and (part := benchmark(str(name))) is not None and part.policy is not None:
        return read_policy(part.policy)
    return read_policy(name)


def read_policy(path: str | Path) -> GatePolicy:
    """Read a policy.

    Raises:
        BadInput: the file cannot be read, or something in it is wrong; names the line.
    """
    with reading(path), Path(path).open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    return parse_policy(data, str(path))


def parse_policy(data: bytes, path: str) -> GatePolicy:
    """Return the policy in the content of a file.

    Raises:
        BadInput: something in it is wrong; names the line.
    """
    values, text = parse_toml(data, path, most_bytes=MOST_BYTES), data.decode("utf-8-sig")
    known = ["against", "error", "looks", "rule"]
    for name in values:
        if name not in known:
            raise unknown_option(_place(path, _line_of_key(text, name)), name, known)
    tables = values.get("rule", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BadInput("{path}: a rule begins with [[rule]].", path=path)
    if not 0 < len(tables) <= MOST_RULES:
        raise BadInput("{path} has {count} rules; it takes 1 to {most}.", path=path, count=len(tables), most=MOST_RULES)
    head = converted({name: values[name] for name in values if name != "rule"}, _Head, path)
    _check_error(head.error, path)
    if not 1 <= head.looks <= MOST_LOOKS:
        raise BadInput("{path}: 'looks' is 1 or 2; it is {looks}.", path=path, looks=head.looks)
    starts = [at for at, line in enumerate(text.splitlines(), 1) if _HEADER.match(line)]
    lines = starts if len(starts) == len(tables) else [0] * len(tables)
    rules = tuple(_rule(table, line, text, path) for table, line in zip(tables, lines, strict=True))
    _check_together(rules, path)
    return GatePolicy(
        rules=rules, against=head.against, error=head.error, looks=head.looks, path=path, digest=digest_bytes(data)
    )


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    against: str = ""
    error: float = ERROR
    looks: int = 1


def _rule(table: Mapping[str, object], line: int, text: str, path: str) -> PolicyRule:
    place = _place(path, line)
    known = [field.name for field in msgspec.structs.fields(RuleTable)]
    for name in table:
        if name not in known:
            raise unknown_option(_place(path, line and _line_of_key(text, name, line)), name, known)
    for name, value in table.items():
        if isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value)):
            place = _place(path, line and _line_of_key(text, name, line))
            raise BadInput("{place}: '{name}' cannot be {value}.", place=place, name=name, value=value)
    rule = PolicyRule(**msgspec.structs.asdict(converted(table, RuleTable, place)), line=line)
    problem = _problem(rule)
    if problem is not None:
        raise BadInput("{place}: {problem}", place=place, problem=problem)
    if rule.error is not None:
        _check_error(rule.error, place)
    return rule


def _problem(rule: PolicyRule) -> Sentence | None:
    """Return what is wrong with a rule by itself."""
    given = [kind for kind in KINDS if rule.given[kind] is not None]
    if len(given) != 1:
        return say(
            "a rule takes one of {kinds}, and has {given}.", kinds=", ".join(KINDS), given=", ".join(given) or "-"
        )
    if not rule.metric.strip():
        return say("'metric' is empty.")
    if rule.slice and rule.each:
        return say("'slice' and 'each' contradict each other; leave one out.")
    if rule.slice and not all(rule.slice.partition("=")):
        return say("a slice is written as key=value, not '{slice}'.", slice=rule.slice)
    is_amount = rule.metric in AMOUNTS
    if rule.quantile is not None and not (is_amount and 0 < rule.quantile < 1):
        return say("'quantile' lies between 0 and 1, and is for {amounts}.", amounts=", ".join(AMOUNTS))
    if rule.kind == "at_least" and rule.metric in LOWER_IS_BETTER:
        return say("less {metric} is better, so it takes 'at_most'.", metric=rule.metric)
    if rule.by == "value" and rule.compares:
        return say("'by' goes with a threshold; what is compared is never decided by its value alone.")
    if rule.kind == "not_worse_by" and not 0 < rule.bound <= 1:
        return say("the margin of 'not_worse_by' is above 0 and at most 1, as 0.05 for 5 points.")
    if rule.kind == "better_by" and not 0 <= rule.bound < 1:
        return say("the margin of 'better_by' is 0 or more and below 1, as 0.05 for 5 points.")
    if not rule.compares and (rule.bound < 0 or (rule.metric == FAILED and rule.bound > 1)):
        return say("a threshold of '{metric}' cannot be {bound}.", metric=rule.metric, bound=rule.bound)
    return None


def _check_together(rules: Sequence[PolicyRule], path: str) -> None:
    """Refuse two rules that say the same, or the contrary."""
    seen: dict[tuple[object, ...], PolicyRule] = {}
    for rule in rules:
        about = (rule.metric, rule.slice, rule.each, rule.quantile)
        earlier = seen.setdefault((*about, rule.kind), rule)
        if earlier is not rule:
            raise BadInput(
                "{place}: the rule of line {line} says the same of '{metric}'.",
                place=_place(path, rule.line),
                line=earlier.line,
                metric=rule.metric,
            )
        least, most = seen.get((*about, "at_least")), seen.get((*about, "at_most"))
        if least is not None and most is not None and least.bound > most.bound:
            raise BadInput(
                "{place}: '{metric}' cannot be at least {least} and at most {most}.",
                place=_place(path, rule.line),
                metric=rule.metric,
                least=least.bound,
                most=most.bound,
            )


def _check_error(error: float, place: str) -> None:
    if not 0 < error < 0.5:
        raise BadInput("{place}: 'error' lies between 0 and 0.5, as 0.05; it is {error}.", place=place, error=error)


def _line_of_key(text: str, key: str, start: int = 1) -> int:
    """Return the line of a key at or after a line; `start` if it is not found."""
    written = re.compile(rf"\s*\[?['\"]?{re.escape(key)}['\"]?\s*[=\].]")
    lines = text.splitlines()
    return next((at for at in range(start, len(lines) + 1) if written.match(lines[at - 1])), start)


def _place(path: str, line: int) -> str:
    return f"{path}:{line}" if line else path
