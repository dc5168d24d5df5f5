"""Items with known verdicts: a judge that gets them wrong is left out of its jury, and reported."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from proctor.core.errors import BadInput, JudgeFailed
from proctor.core.sample import Sample
from proctor.core.trajectory import Trajectory, Usage
from proctor_judging.judges import judge_prompt
from proctor_judging.judges.judgement_parsing import RubricJudgement
from proctor_judging.judges.rubric import RubricJudge
from proctor_judging.judges.rubric_file import JudgeRubric
from proctor_judging.judges.rubric_score import ROUNDING


class Control(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An item with a known verdict: whether it passes, or its points by dimension, `within` that distance."""

    answer: str
    expect: Literal["pass", "fail"] | Mapping[str, float]
    question: str = ""
    solution: str = ""
    reference: str = ""
    within: float = 1.0


async def check_judge(judge: RubricJudge, controls: Sequence[Control], needed: float) -> tuple[bool, Usage]:
    """Return whether a judge gets the needed share of the controls right, and its usage; no reply is a wrong one."""
    right, usage = 0, Usage()
    for control in controls:
        try:
            judgement = await judge.ask(_shown(control, judge.rubric))
        except JudgeFailed:
            continue
        usage = usage + judgement.usage
        right += _is_right(control, judgement, judge.rubric)
    return right >= needed * len(controls) - ROUNDING, usage


def check_controls(controls: Sequence[Control], rubric: JudgeRubric) -> None:
    """Refuse controls that do not fit the rubric.

    Raises:
        BadInput: it has no `pass`, or not such a dimension.
    """
    known = [dimension.name for dimension in rubric.dimensions]
    for control in controls:
        if isinstance(control.expect, str):
            if rubric.passing is None:
                raise BadInput(
                    "jury: a control expects to pass or fail, and the rubric '{name}' has no 'pass'.", name=rubric.name
                )
        elif not control.expect or not set(control.expect) <= set(known):
            raise BadInput(
                "jury: a control expects points in dimensions of the rubric '{name}': {known}.",
                name=rubric.name,
                known=", ".join(known),
            )


def _shown(control: Control, rubric: JudgeRubric) -> judge_prompt.ShownTexts:
    texts = {field: text for field in judge_prompt.FIELDS if (text := getattr(control, field))}
    sample = Sample(id="control", turns=(), meta={"item": texts})
    return judge_prompt.shown(sample, Trajectory.of(control.answer), rubric.judges == "item")


def _is_right(control: Control, judgement: RubricJudgement, rubric: JudgeRubric) -> bool:
    if isinstance(control.expect, str):
        if judgement.mean is None or rubric.passing is None:
            return False
        return (judgement.mean >= rubric.passing - ROUNDING) == (control.expect == "pass")
    return all(
        (points := judgement.points[name]) is not None and abs(points - wanted) <= control.within + ROUNDING
        for name, wanted in control.expect.items()
    )
