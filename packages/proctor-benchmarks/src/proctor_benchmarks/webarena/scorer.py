"""Score a trajectory by the official evaluators; what they look at on pages was read when the agent ended, and is in its state.

The state has `url`, that of the page left open, and for each target of `program_html` whether it `held`, or, where that was
recorded elsewhere, the `contents`. They are missing where no site was opened, and `answer` where the agent ended without `stop`.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Self

from proctor.core.errors import PartFailed
from proctor.core.judge import JudgeChoice
from proctor.core.sample import Message, Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.models import ledger
from proctor_benchmarks.webarena import judging, rules
from proctor_benchmarks.webarena.dataset import Config, config_of
from proctor_judging.judges.asking import AsksModel

VERSION = "webarena f62e0b99bc7d / 1"
KEPT_CHARACTERS = 2_000  # of each reply of the judge
Ask = Callable[[Sequence[Message]], Awaitable[str]]


class WebArenaScorer(AsksModel):
    """1 if every official evaluator of the task is content.

    Attributes:
        judge: what is recorded of the model that compares answers, once the run named one.
    """

    name = "webarena"
    version = VERSION
    is_async = True

    def with_judge(self, judge: JudgeChoice) -> Self:
        """Return the same scorer with the model that the run names as judge."""
        return self.with_model(judge, "webarena", judging.DEFAULTS)

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        config = config_of(sample)
        if config is None:
            return Unscored(why="not_applicable", reason=say("The sample is none of WebArena."))
        state = trajectory.state or {}
        said, url, contents = state.get("answer"), state.get("url"), state.get("contents")
        by_limit = trajectory.stop not in ("done", "empty", "length")  # what it said on the way is no answer
        answer = said if isinstance(said, str) else "" if by_limit else trajectory.answer
        replies: list[str] = []
        try:
            parts = await evaluate(
                config, answer, url, contents, None if self._model is None else self._asking(replies)
            )
            if isinstance(held := state.get("held"), list) and "program_html" in parts:
                parts["program_html"] = all(held)
        except rules.Broken as error:
            by_judge = error.kind == "AssertionError"
            return Unscored(
                why="judge_failed" if by_judge else "scorer_failed",
                reason=say("The official evaluation breaks off with {kind}: {error}", kind=error.kind, error=error),
                details={"kind": "unreadable" if by_judge else "official_raises", "replies": replies},
            )
        except PartFailed as error:
            return Unscored(why="judge_failed", reason=error.sentence, details={"kind": error.kind, "replies": replies})
        return _scored(parts, answer, replies, state.get("recorded"))

    def _asking(self, replies: list[str]) -> Ask:
        async def ask(messages: Sequence[Message]) -> str:
            assert self._model is not None
            step = await self._model.complete(messages)
            ledger.spend(step.usage, model=self._model.name)
            replies.append(step.message.text[:KEPT_CHARACTERS])
            return step.message.text

        return ask


def _scored(parts: dict[str, bool | None], answer: str, replies: Sequence[str], recorded: object) -> Score | Unscored:
    """Turn what the evaluators say into a score; where one could not look (None), the verdict of an official log counts."""
    details: dict[str, Any] = {"evaluators": parts, **({"replies": replies} if replies else {})}
    failed = [name for name, met in parts.items() if met is False]
    if failed:
        reason = say("Not as expected: {parts}.", parts=", ".join(failed))
        return Score(points=0, answer=answer, reason=reason, details={**details, "error_class": failed[0]})
    unknown = [name for name, met in parts.items() if met is None]
    if unknown and isinstance(recorded, bool):
        reason = say("The official log says so of {parts}.", parts=", ".join(unknown))
        return Score(points=int(recorded), answer=answer, reason=reason, details={**details, "from_log": unknown})
    if "string_match" in unknown:
        reason = say("The answer to this task is compared by a model, and none is named: --judge openai:MODEL.")
        return Unscored(why="not_applicable", reason=reason, details={**details, "kind": "no_judge"})
    if unknown:
        reason = say("No page was left open for {parts} to look at.", parts=", ".join(unknown))
        return Unscored(why="not_applicable", reason=reason, details={**details, "kind": "no_site"})
    return Score(points=1, answer=answer, reason=say("As expected: {parts}.", parts=", ".join(parts)), details=details)


async def evaluate(
    config: Config, answer: str, url: str | None, contents: Sequence[object] | None, ask: Ask | None
) -> dict[str, bool | None]:
    """Return what each official evaluator says, in their order; None where it has no judge to ask, or no page to look at.

    Raises:
        Broken: the official evaluation raises.
        PartFailed: the judge could not be asked.
    """
    evaluation, parts = config.evaluation, dict[str, bool | None]()
    for kind in evaluation.eval_types:
        match kind:
            case "string_match":
                parts[kind] = await _is_expected_answer(config, answer, ask)
            case "url_match":
                parts[kind] = None if url is None else rules.is_expected_url(url, evaluation.reference_url or "")
            case "program_html":
                parts[kind] = None
                if contents is not None and len(contents) == len(evaluation.program_html):
                    parts[kind] = True
                    for target, value in zip(evaluation.program_html, contents, strict=True):
                        content = rules.content_of(target.locator, value)
                        parts[kind] = rules.holds(target.required_contents, content) and parts[kind]
    return parts


async def _is_expected_answer(config: Config, answer: str, ask: Ask | None) -> bool | None:
    """Compare an answer with all references. All judgements are asked for, also after a failure, as officially."""
    answer, met, unasked = rules.clean(answer), True, False
    for approach, value in (config.evaluation.reference_answers or {}).items():
        several = [value] if isinstance(value, str) else value
        if approach == "exact_match":
            met &= rules.is_exactly(several[0], answer)
        elif approach == "must_include":
            for phrase in several:
                met &= rules.includes(phrase, answer, alone=len(several) == 1)
        elif approach == "fuzzy_match" and value == rules.UNACHIEVABLE:
            met &= rules.is_exactly(rules.UNACHIEVABLE, answer)
            if not met:  # what the judge says then counts for all that was compared before, as officially
                if ask is None:
                    return None
                request = judging.ask_for_reason(answer, config.evaluation.string_note, config.intent)
                met = judging.is_same_reason(await ask(request))
        elif approach == "fuzzy_match":
            for phrase in several:
                if ask is None:
                    unasked = True
                else:
                    met &= judging.is_same_answer(await ask(judging.ask_for_answer(answer, phrase, config.intent)))
    return None if met and unasked else met
