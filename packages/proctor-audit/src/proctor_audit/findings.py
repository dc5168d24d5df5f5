"""Define what a check finds: a finding with its class, its witness and where it is."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec

from proctor.core.sentence import Sentence

FindingClass = Literal["proved", "likely", "look"]
FindingScope = Literal["sample", "pair", "set", "scorer", "trial"]
Invalidates = Literal["success", "failure", "neither"]
OF_SAMPLES: tuple[FindingScope, ...] = ("sample", "pair", "trial")  # findings of these are named after their samples
PrecisionMeaning = Literal["right", "flawed", "changed"]
PARTS = re.compile(r"([0-9]+)|([^0-9])")
CLASSES: tuple[FindingClass, ...] = get_args(FindingClass)


class FindingLocation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the subject of a finding is written: a file with its line, or a JSON path in it."""

    file: str = ""
    line: int | None = None
    path: str = ""


class FindingPrecision(msgspec.Struct, frozen=True, kw_only=True):
    """How many findings of a check were right on the corpus `measured_on`, with an interval of a confidence `level`.

    Attributes:
        meaning: what was counted as right: what people labelled so, a sample known to be flawed, or one that a verified
            edition of the corpus changed.
        base: the share of all samples of the corpus that were so, whatever was found; None where it was not counted.
    """

    value: float
    low: float
    high: float
    count: int
    measured_on: str
    level: float = 0.95
    meaning: PrecisionMeaning = "right"
    base: float | None = None


class FindingIgnored(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who accepted a finding, and why."""

    reason: str
    by: str = ""
    until: str = ""


class AuditFinding(msgspec.Struct, frozen=True, kw_only=True, rename={"cls": "class"}):
    """What a check found.

    Attributes:
        id: the same over runs, orders and machines: check and samples.
        steps: of a trial: indices of messages, from 0.
        witness: the smallest thing to replay, as JSON.
        replay: the command that runs the witness again.
        invalidates: of a trial: whether its success or its failure does not count.
    """

    id: str
    check: str
    group: str
    cls: FindingClass
    scope: FindingScope
    samples: tuple[str, ...]
    sentence: Sentence
    witness: Mapping[str, Any]
    where: tuple[FindingLocation, ...] = ()
    steps: tuple[int, ...] = ()
    replay: str = ""
    invalidates: Invalidates | None = None
    precision: FindingPrecision | None = None
    seed: int = 0
    ignored: FindingIgnored | None = None


class NotChecked(msgspec.Struct, frozen=True, kw_only=True, rename={"cls": "class"}):
    """A check that could not be made, or not on some samples.

    Attributes:
        applies: True if it would have been made were it not for a fault, so that nothing found is no pass.
        made: False if the check was not made at all, or not to its end.
    """

    check: str
    cls: FindingClass
    reason: Sentence
    samples: tuple[str, ...] = ()
    applies: bool = False
    made: bool = True


def finding_id(check: str, scope: FindingScope, samples: Sequence[str], scorer: str = "") -> str:
    """Return the id of a finding; one about a scorer has its name.

    >>> finding_id("duplicate", "pair", ["q9", "q3"]), finding_id("letters-unbalanced", "set", [])
    ('duplicate:q3+q9', 'letters-unbalanced:set')
    >>> finding_id("drops-errors", "scorer", ["q1"], "exact"), finding_id("gold-fails", "sample", ["c++"])
    ('drops-errors:exact', 'gold-fails:c%2B%2B')
    """
    return f"{check}:{subject_of(samples) if scope in OF_SAMPLES else scorer or scope}"


def subject_of(samples: Iterable[str]) -> str:
    """Return samples as the id of a finding has them: no two sets of samples are written alike.

    >>> subject_of(["a", "b"]), subject_of(["a+b"])
    ('a+b', 'a%2Bb')
    """
    return "+".join(sorted(sample.replace("%", "%25").replace("+", "%2B") for sample in samples))


def earlier_id(finding: AuditFinding) -> str:
    """Return the id that a finding had when samples were joined as they are, so that lists of that time are understood."""
    check, _, _ = finding.id.partition(":")
    return f"{check}:{'+'.join(sorted(finding.samples))}" if finding.scope in OF_SAMPLES else finding.id


def sort_findings(findings: Sequence[AuditFinding]) -> list[AuditFinding]:
    """Return the findings, proved ones first, in an order that nothing but their ids decides."""

    def key(finding: AuditFinding) -> tuple[object, ...]:
        check, _, subject = finding.id.partition(":")  # the check with the number of an event
        return CLASSES.index(finding.cls), finding.check, natural_key(subject), natural_key(check)

    return sorted(findings, key=key)


def natural_key(text: str) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts q2 before q10."""
    return tuple((int(digits), "") if digits else (-1, other) for digits, other in PARTS.findall(text))
