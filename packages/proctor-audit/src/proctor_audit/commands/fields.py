"""The options of the two commands that print findings."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from proctor.cli import output
from proctor.cli.derived import derived
from proctor.cli.words import t
from proctor.core.run_fields import Bounds, Flag
from proctor.core.sentence import say
from proctor_audit.report import FailOn

if TYPE_CHECKING:
    from proctor_audit.check import AuditCheck


class FindingFields(msgspec.Struct, frozen=True, kw_only=True):
    """Which checks are made, which findings count, and where they are written."""

    chosen: Annotated[
        tuple[str, ...],
        Flag(say("Only this check, or this group, such as A1 or I1."), "check", "NAME", several=True),
    ] = ()
    skipped: Annotated[tuple[str, ...], Flag(say("Not this check or group."), "skip", "NAME", several=True)] = ()
    listed: Annotated[bool, Flag(say("List the checks: group, name, class, cost and one sentence each."), "list")] = (
        False
    )
    ignore: Annotated[
        Path | None,
        Flag(
            say("Accepted findings with reasons (default: proctor-ignore.toml next to the task or file, or here)."),
            metavar="FILE",
        ),
    ] = None
    fail_on: Annotated[
        FailOn, Flag(say("From which class on a finding makes the exit code 1 (default proved)."), "fail-on")
    ] = "proved"
    replay: Annotated[
        str | None, Flag(say("Show the evidence of one finding again: what was sent, or the steps."), metavar="FINDING")
    ] = None
    every: Annotated[bool, Flag(say("Print every finding, not five of each check."), "all")] = False
    files: Annotated[
        tuple[Path, ...],
        Flag(
            say("Write it too: .html, .md, .json, .sarif, .svg (a badge) or .xml (JUnit)."),
            "out",
            "FILE",
            several=True,
            short="-o",
        ),
    ] = ()


class AuditFields(msgspec.Struct, frozen=True, kw_only=True):
    """What only an audit of a task takes."""

    runs: Annotated[
        str | None,
        Flag(
            say(
                "Stored runs for the outcome checks (default: all of this task and data); of those named, the score without the samples of proved findings is shown too."
            ),
            metavar="RUN,RUN…",
        ),
    ] = None
    against: Annotated[
        str | None,
        Flag(say("Other data, such as what a model was trained on: are samples of the task in it?"), metavar="TASK"),
    ] = None
    seconds: Annotated[
        float, Flag(say("The limit for one call of a scorer of yours (default 5).")), Bounds(0, is_open=True)
    ] = 5.0


class InspectionFields(msgspec.Struct, frozen=True, kw_only=True):
    """What only an inspection of trials takes."""

    labels: Annotated[
        tuple[str, ...],
        Flag(
            say(
                "Labels of people for drawn trials, a verification file of the review page; corrects how frequent an event is."
            ),
            metavar="FILE",
            several=True,
        ),
    ] = ()
    plan: Annotated[
        Path | None,
        Flag(
            say("Write a random draw of trials to label for one --check, as items of the review page."), metavar="FILE"
        ),
    ] = None
    draw: Annotated[int, Flag(say("How many trials --plan draws (default 60).")), Bounds(1)] = 60
    judge: Annotated[
        str | None,
        Flag(
            say(
                "Ask this model three questions that no rule decides, about trials in which the rules found nothing of the kind; what it says is for a look."
            ),
            metavar="MODEL",
        ),
    ] = None
    asked: Annotated[
        int,
        Flag(say("About how many trials, drawn at random, --judge is asked each question (default 50).")),
        Bounds(1),
    ] = 50


of_findings = derived(*FindingFields.__struct_fields__, of=FindingFields)
of_audits = derived(*AuditFields.__struct_fields__, of=AuditFields)
of_inspections = derived(*InspectionFields.__struct_fields__, of=InspectionFields)


def print_checks(checks: "Sequence[AuditCheck]") -> None:
    """Print a table of checks, as `--list` asks for."""
    output.print_table(
        [t("group"), t("check"), t("class"), t("cost"), t("what it says")],
        [[each.group, each.name, t(each.cls), t(each.cost), t(each.title)] for each in checks],
    )
