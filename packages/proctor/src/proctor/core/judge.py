"""Describe the judges of a run: what is recorded of them, and which model the run chooses as judge."""

from collections.abc import Mapping
from typing import Any

import msgspec

from proctor.core.run import Estimate
from proctor.core.sentence import Sentence

PROVENANCE = "judges"  # the key under which a run records what judged it, by scorer


class JudgedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A number of a run that a judge's verdicts hold.

    Attributes:
        low, high: the scale it is shown on; from 0 to 1 it is a share.
        failed: its share if the agent failed; None if a failure says nothing about it.
        empty: its value when there are verdicts but none has it; None if it then has no value.
    """

    name: str
    low: float = 0.0
    high: float = 1.0
    failed: float | None = 0.0
    empty: float | None = None


class JudgeInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a run records of a judge; a scorer that asks a model has it as `judge`.

    Attributes:
        kind: the kind of judge, whose `JudgePart.concluded` has the last word on its estimates; other scorers that hold
            a judge, such as `combine`, have none.
        weights: the shares of the dimensions in its average; empty without a rubric, and in runs of earlier versions.
        passing: the points from which an item passes.
        main: the name of the mean of its values; '' for the usual one.
        unpriced: its models whose price is not known.
        by: the tag by which alone its figures mean something, such as the pair of systems compared.
        calibration: how it was checked against people; '' where it was not.
        calibrated: the agreement was shown to be enough.
        corrected: what its numbers would be if people had judged, as `calibrate` found.
    """

    model: str
    kind: str = ""
    rubric: str = ""
    rubric_digest: str = ""
    weights: Mapping[str, float] = {}
    passing: float | None = None
    main: str = ""
    by: str = ""
    figures: tuple[JudgedFigure, ...] = ()
    unpriced: tuple[str, ...] = ()
    calibration: str | Sentence = ""
    calibrated: bool = False
    corrected: tuple[Estimate, ...] = ()


class JudgeChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The judge that a run names (`--judge`, `--judge-set`), with the options of the judge and of its model together."""

    model: str | None = None
    options: Mapping[str, Any] = {}


NOT_CHOSEN = JudgeChoice()
