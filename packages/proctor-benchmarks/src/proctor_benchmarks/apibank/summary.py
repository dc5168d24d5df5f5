"""Compute the official figures by level, with intervals clustered by dialogue.

    call_accuracy                 right calls over the calls that are asked for; a call that could not be made is in neither
    call_accuracy_without_search  the same without those that search for a tool
    rouge_l                       mean ROUGE-L of the responses
    sample_accuracy               of level 3: (50 - dialogues with a call that is not right) / 50, whatever was asked

Source: DAMO-ConvAI, commit 483554eae102, `api-bank/evaluator_by_json.py`, `api-bank/lv3_evaluator.py`.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from proctor.core.run import Estimate
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.task import Judged
from proctor_benchmarks.apibank.dataset import PLANNED, TOOLS
from proctor_benchmarks.apibank.scorer import CALL

DIALOGUES = 50  # a constant of the official code
_OTHERS = "call_accuracy_without_search"
_FIGURES = (
    ("call_accuracy", "call", ("call", "search")),
    (_OTHERS, "call", ("call",)),
    ("rouge_l", "rouge_l", ("response",)),
)


def summarise(estimates: Sequence[Estimate], judged: Judged) -> list[Estimate]:
    """Return the official figures of each level of the run."""
    by_name = {
        (estimate.name, estimate.slice): estimate for estimate in estimates
    }  # with one scorer, names have no prefix
    made: list[Estimate] = []
    for level in TOOLS:
        for name, scorer, parts in _FIGURES:
            names = (f"{scorer}.accuracy", f"{scorer}.score", "score" if scorer == "rouge_l" else "accuracy")
            slices = [f"part={level}/{part}" for part in parts]
            slice = slices[0] if len(parts) == 1 else f"level={level}"
            figures = [figure for key in names if (figure := by_name.get((key, slice)))]
            planned = sum(
                by_name[figures[0].name, each].planned
                for each in slices
                if figures and (figures[0].name, each) in by_name
            )
            if planned and (name != _OTHERS or f"part={level}/search" in {estimate.slice for estimate in estimates}):
                made.append(replace(figures[0], name=name, slice=f"level={level}", planned=planned))
    asked, wrong = _planned(judged)
    if asked:
        value = (DIALOGUES - len(wrong)) / DIALOGUES
        note = say("of {count} dialogues, as officially; {asked} were asked for", count=DIALOGUES, asked=len(asked))
        made.append(Estimate(name="sample_accuracy", value=value, slice=f"level={PLANNED}", scored=len(asked), planned=DIALOGUES, note=note))  # fmt: skip
    return made


def _planned(judged: Judged) -> tuple[set[str], set[str]]:
    """Return the dialogues of level 3 in which calls were asked for, and those with one that is not right."""
    asked, wrong = set[str](), set[str]()
    for sample, verdict in judged():
        if verdict.attempt == 0 and verdict.scorer == CALL and sample.tags.get("part", "").startswith(PLANNED):
            result, dialogue = verdict.result, sample.cluster or sample.id
            if isinstance(result, Score) or result.why != "not_applicable":
                asked.add(dialogue)
                if not isinstance(result, Score) or not result.points:
                    wrong.add(dialogue)
    return asked, wrong
