"""Judge by a rubric: `rubric:math-problem`, `rubric:./mine.toml`, or in a file of scorers

[scorers.quality]
kind = "rubric"
rubric = "answer-quality"
judge = "openai:judge-1"    # else that of the run, --judge
repeats = 3

The points of an item are the weighted mean of its dimensions on the scale of the rubric; as a share, the lowest point of
the scale is 0 and the highest is 1. What the judge does not say becomes no number: a reply that cannot be read is asked
for again with the reason, and then the judge has failed. A dimension it calls unknown is counted apart.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.judge import NOT_CHOSEN, JudgeChoice, JudgeInfo
from proctor.core.parts import JudgePart
from proctor.core.sample import File, Sample
from proctor.core.score import Score, Unscored
from proctor.core.task import Model
from proctor.core.trajectory import Trajectory, Usage
from proctor.models.named import OpenedModels
from proctor_judging.judges import judge_prompt
from proctor_judging.judges.asker import Asker, gather_all, gather_most
from proctor_judging.judges.judge_options import (
    MOST_CHARACTERS,
    Characters,
    Count,
    JudgeOptions,
    make_asker,
    resolve_single_judge,
)
from proctor_judging.judges.judgement_parsing import RubricJudgement, read_judgement, schema
from proctor_judging.judges.rubric_file import JudgeRubric, RubricDimension, RubricExample, known, made, rubric
from proctor_judging.judges.rubric_score import average, figures, to_score, unjudged

__all__ = ["JudgeRubric", "RubricJudge", "RubricOptions", "known", "made", "make", "rubric"]


class RubricOptions(JudgeOptions, frozen=True, kw_only=True):
    """The options of a judge; other options apply to its model, such as temperature (0 unless set) or seed.

    Attributes:
        repeats: judgements of each item; their mean counts, and how far they are apart is reported.
        each: ask for one dimension at a time.
        characters: longer items are not judged.
        show_pictures: show the judge the pictures of question, results and answer, where its model takes them.
    """

    repeats: Count = 1
    each: bool = False
    characters: Characters = MOST_CHARACTERS
    show_pictures: bool = False


def make(argument: str, options: Mapping[str, Any], chosen: JudgeChoice = NOT_CHOSEN) -> "RubricJudge":
    """Return the scorer `rubric:NAME`, or `rubric:FILE.toml`.

    Raises:
        BadInput: no judge or rubric is named, or an option is wrong.
    """
    own, name, rest = resolve_single_judge(options, chosen, RubricOptions, "rubric")
    which = argument or own.rubric
    if not which:
        raise BadInput("Name the rubric, for example rubric:math-problem. Known: {known}.", known=", ".join(known()))
    return RubricJudge(rubric(which), make_asker(name, rest, own.tries), own, model_options=rest)


class RubricJudge(OpenedModels):
    """A scorer that gives each item points in the dimensions of a rubric; use it in `async with` for the length of a run.

    Attributes:
        judge: what is recorded of it with a run.
    """

    def __init__(
        self,
        rubric: JudgeRubric,
        judge: Asker | Model,
        options: RubricOptions = RubricOptions(),  # noqa: B008 - frozen
        *,
        model_options: Mapping[str, Any] = {},
    ) -> None:
        self.rubric = rubric
        self.options = options
        self.asker = judge if isinstance(judge, Asker) else Asker(judge, tries=options.tries)
        super().__init__([self.asker])
        self.name = f"rubric:{rubric.name}"
        templates = ("rubric", "pictures") if options.show_pictures else ("rubric",)
        wordings = [judge_prompt.wording(lang, *templates) for lang in ("en", "zh")]
        self.version = digest([rubric, options, self.asker.name, model_options, wordings])[:12]
        self.judge = JudgeInfo(
            kind="rubric",
            model=self.asker.name,
            rubric=rubric.name,
            rubric_digest=rubric.digest,
            weights=rubric.weights,
            passing=rubric.passing,
            main="score",
            figures=figures(rubric, repeats=options.repeats),
            unpriced=self.asker.unpriced,
        )

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        shown = judge_prompt.shown(sample, trajectory, self.rubric.judges == "item", self.sees)
        nothing = unjudged(shown, self.rubric, self.options.characters)
        return nothing or to_score(await self.ask(shown), self.rubric, self.asker.name, **shown.details)

    def sees(self, file: File) -> bool:
        """True if it is shown a file, if that is a picture."""
        return self.options.show_pictures and self.asker.takes(file)

    async def ask(self, shown: judge_prompt.ShownTexts, others: Sequence[str] = ()) -> RubricJudgement:
        """Ask the judge for its points, and show it the judgements of `others` first.

        Raises:
            JudgeFailed: half of the repeats, or more, gave no usable reply.
        """
        repeats, failed = await gather_most(self._once(shown, others, repeat) for repeat in range(self.options.repeats))
        return average(repeats, failed, self.rubric)

    async def _once(self, shown: judge_prompt.ShownTexts, others: Sequence[str], repeat: int) -> RubricJudgement:
        if not self.options.each:
            return await self._request(shown, self.rubric.dimensions, others, repeat)
        parts = await gather_all(
            self._request(shown, (dimension,), others, repeat) for dimension in self.rubric.dimensions
        )
        return RubricJudgement(
            points={name: points for part in parts for name, points in part.points.items()},
            comment="\n".join(part.comment for part in parts if part.comment),
            replies=("\n".join(reply for part in parts for reply in part.replies),),
            usage=sum((part.usage for part in parts), Usage()),
        )

    async def _request(
        self, shown: judge_prompt.ShownTexts, dimensions: Sequence[RubricDimension], others: Sequence[str], repeat: int
    ) -> RubricJudgement:
        rubric = self.rubric
        lang = judge_prompt.language(self.options.language, rubric, [text for _, text in shown.judged])
        messages = judge_prompt.prompt(
            "rubric",
            lang,
            shown,
            rubric=rubric,
            dimensions=dimensions,
            low=f"{rubric.low:g}",
            high=f"{rubric.high:g}",
            form=_form(dimensions),
            examples=[_example(example, dimensions) for example in rubric.examples if example.lang in (None, lang)],
            others=tuple(others),
        )
        return await self.asker.ask(
            messages,
            schema(rubric, dimensions),
            lambda value: read_judgement(value, rubric, dimensions),
            lang=lang,
            repeat=repeat,
        )


def _form(dimensions: Sequence[RubricDimension]) -> str:
    return "{" + ", ".join(['"comment": "..."', *(f'"{dimension.name}": ...' for dimension in dimensions)]) + "}"


def _example(example: RubricExample, dimensions: Sequence[RubricDimension]) -> dict[str, str]:
    reply = {"comment": example.comment, **{dimension.name: example.scores[dimension.name] for dimension in dimensions}}
    return {"text": example.text, "reply": msgspec.json.encode(reply).decode()}


PART = JudgePart(make=make, options=RubricOptions)
