"""Let referees debate which of two is better: `debate`, `debate:RUBRIC`, as a scorer of any task.

    [scorers.panel]
    kind = "debate"
    rubric = "answer-quality"
    order = "concurrent"        # all speak in each round; else one after the other
    referees = { Reader = "You ask what helps the reader.", Critic = "You check every claim." }

Items are compared as by `pairwise`, with their references and in both orders; each order is a debate of its own, and the
sums of the referees' scores say who won it. With `--judge A,B` the models sit down in turn.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from proctor.core.digest import digest
from proctor.core.errors import BadInput, JudgeFailed
from proctor.core.judge import NOT_CHOSEN, JudgeChoice
from proctor.core.parts import JudgePart
from proctor.core.sample import Message
from proctor.core.trajectory import Usage
from proctor.models.named import OpenedModels
from proctor_judging.judges import judge_prompt
from proctor_judging.judges.asker import Asker, quoted
from proctor_judging.judges.debating import (
    SCORES,
    DebateRules,
    DebateSeat,
    Order,
    Referee,
    Speech,
    Visibility,
    debate,
    scores_of,
    summary_request,
)
from proctor_judging.judges.judge_options import make_asker, resolve_judge, split_options
from proctor_judging.judges.judgement_parsing import PairJudgement, Winner
from proctor_judging.judges.pairwise import USUAL, PairwiseJudge, PairwiseOptions, concluded
from proctor_judging.judges.rubric_file import JudgeRubric, Lang, rubric

REFEREES: Mapping[Lang, Mapping[str, str]] = {
    "en": {
        "Reader": "You ask what the person who put the question wanted, and which text serves them better.",
        "Critic": "You check each claim, look for what is missing or wrong, and question what the others take for granted.",
    },
    "zh": {
        "Reader": "你关心提问的人想要什么，哪一段文字对其更有帮助。",
        "Critic": "你检查每一个说法，寻找遗漏和错误，并质疑其他评审想当然的看法。",
    },
}
CLOSING: Mapping[Lang, str] = {
    "en": "Now give your own scores. First your reasons, then these two lines, with a number after each colon and nothing after it:\n{scores}",
    "zh": "现在请给出你自己的分数。先写理由，再写下面两行，每个冒号后写一个数字，数字后不写任何内容：\n{scores}",
}


class DebateOptions(PairwiseOptions, frozen=True, kw_only=True):
    """The options of a debate; other options apply to all its models.

    Attributes:
        referees: each name with its role; two of Proctor's own when empty.
        order, visibility, turns, summary: see `models.debate.Rules`.
    """

    referees: Mapping[str, str] = {}
    order: Order = "sequential"
    visibility: Visibility = "all"
    turns: Annotated[int, msgspec.Meta(ge=1, le=100)] = 4
    summary: bool = False


def make(argument: str, options: Mapping[str, Any], chosen: JudgeChoice = NOT_CHOSEN) -> "DebateJudge":
    """Return the scorer `debate`, or `debate:RUBRIC` (a name or a file).

    Raises:
        BadInput: no judge is named, an unknown rubric, or an option is wrong.
    """
    names, all_options = resolve_judge(options, chosen)
    own, rest = split_options(all_options, DebateOptions, "debate")
    if own.summary and own.order != "concurrent":
        raise BadInput("A summary is made of a round in which all speak: add order = concurrent.")
    models = [make_asker(name.strip(), rest, own.tries) for name in names.split(",") if name.strip()]
    return DebateJudge(rubric(argument or own.rubric or USUAL), models, own, model_options=rest)


class DebateJudge(PairwiseJudge):
    """A scorer that compares each item with its references by debates; `async with` it, for the length of a run."""

    def __init__(
        self,
        criteria: JudgeRubric,
        models: Sequence[Asker],
        options: DebateOptions,
        *,
        model_options: Mapping[str, Any] = {},
    ) -> None:
        super().__init__(criteria, models[0], options, model_options=model_options)
        OpenedModels.__init__(self, models)
        self._models = models
        self._rules = DebateRules(
            order=options.order, visibility=options.visibility, turns=options.turns, summary=options.summary
        )
        self._roles = options.referees
        self.name = "debate"
        names = ", ".join(model.name for model in models)
        wordings = [judge_prompt.wording(lang, "debate") for lang in ("en", "zh")]
        self.version = digest([criteria, options, names, model_options, wordings, REFEREES, CLOSING])[:12]
        unpriced = tuple(dict.fromkeys(name for model in models for name in model.unpriced))
        self.judge = msgspec.structs.replace(self.judge, kind="debate", model=names, unpriced=unpriced)

    async def _request(
        self, first: str, second: str, context: tuple[tuple[str, str], ...], repeat: int
    ) -> PairJudgement:
        """Debate about two texts in this order; `repeat` begins with another referee."""
        lang = judge_prompt.language(self.options.language, self.rubric, [first, second])
        seats = self._seats(lang, first, second, context)
        seats = seats[repeat % len(seats) :] + seats[: repeat % len(seats)]
        spent: list[Usage] = []

        async def say(model: Asker, messages: Sequence[Message]) -> str:
            step = await model.reply(messages)
            spent.append(step.usage or Usage())
            return step.message.text

        async def ask(number: int, messages: Sequence[Message]) -> str:
            return await say(self._models[number % len(self._models)], messages)

        async def summarise(said: Sequence[Speech]) -> str:
            return await say(self._models[0], summary_request(said))

        played = await debate([Referee(seat) for seat in seats], self._rules, ask, summarise=summarise)
        text = "\n\n".join(f"{one.role}: {one.text}" for one in played.evaluation)
        try:
            ahead = sum(points - other for points, other in (scores_of(speech.text) for speech in played.evaluation))
        except ValueError:
            ahead = math.nan
        if not math.isfinite(ahead):
            raise JudgeFailed(
                "A referee gave no scores that can be read. The last speeches: {reply}",
                kind="unreadable",
                reply=quoted(text),
            )
        winner: Winner = "A" if ahead > 0 else "B" if ahead < 0 else "tie"
        return PairJudgement(winner=winner, replies=(text,), usage=sum(spent, Usage()))

    def _seats(self, lang: Lang, first: str, second: str, context: tuple[tuple[str, str], ...]) -> list[DebateSeat]:
        closing = CLOSING[lang].format(scores="\n".join(SCORES))

        def opening(name: str, role: str, final: str) -> str:
            shown = judge_prompt.ShownTexts(context=context)
            texts = {"first": first, "second": second, "name": name, "role": role, "closing": final}
            return judge_prompt.prompt("debate", lang, shown, dimensions=self.rubric.dimensions, **texts)[-1].text

        return [
            DebateSeat(
                name=name, opening=opening(name, role, ""), last_opening=opening(name, role, closing), closing=closing
            )
            for name, role in (self._roles or REFEREES[lang]).items()
        ]


PART = JudgePart(make=make, options=DebateOptions, concluded=concluded)
