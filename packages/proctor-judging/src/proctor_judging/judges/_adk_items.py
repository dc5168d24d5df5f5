"""Make the items that judges see for a criterion of ADK, and their properties: turn by turn, or the whole conversation at once.

Source: google/adk-python, src/google/adk/evaluation, final_response_match_v2.py, rubric_based_*.py, hallucinations_v1.py and
simulation/per_turn_user_simulator_quality_v1.py, release 2.13. Names and counting are ADK's, the words for the judge ours.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from proctor.core.sample import Sample, ToolResult
from proctor.core.trajectory import Step, Trajectory
from proctor_judging.judges.deepeval import DeepevalTurn, played

SAME = (
    "Does the answer say the same as the reference answer? Wording, order and politeness are free; facts, figures and units "
    "are not, and nothing that the reference says may be missing or contradicted."
)
RESPONSE = (
    "Judge the agent's answer to the user by each property. The solution shows the tools that were called for it."
)
TOOLS = "Judge how the agent used its tools for what the user asked, by each property. The answer is the calls it made."
TRAJECTORY = (
    "Judge how the agent led the whole conversation, by each property: what it said and which tools it called in all turns "
    "together. The answer is the conversation. A property that does not apply to it is fulfilled."
)
GROUNDED = (
    "Judge sentences of the agent's answer by what the agent had at hand: the question, and the calls and results in the "
    "solution. Use no other knowledge. A sentence holds when that material entails it, or when it needs no evidence: a "
    "greeting, a question, an opinion, a plan, a calculation. It does not hold when the material does not say so, or says "
    "otherwise."
)
USER = (
    "A simulated user talks with an agent by a plan. The question shows the plan and the conversation so far, the answer what "
    "the user says next. Judge the user, not the agent."
)
TYPES = {  # the rubrics of a case that a criterion looks at; those without a type are for all
    "rubric_based_final_response_quality_v1": "FINAL_RESPONSE_QUALITY",
    "rubric_based_tool_use_quality_v1": "TOOL_USE_QUALITY",
    "rubric_based_multi_turn_trajectory_quality_v1": "TRAJECTORY_QUALITY",
}
TASKS = {
    "final_response_match_v2": SAME,
    "rubric_based_final_response_quality_v1": RESPONSE,
    "rubric_based_tool_use_quality_v1": TOOLS,
    "rubric_based_multi_turn_trajectory_quality_v1": TRAJECTORY,
    "hallucinations_v1": GROUNDED,
    "per_turn_user_simulator_quality_v1": USER,
}
METRICS = tuple(TASKS)
SENTENCES_AT_ONCE = 20
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


class Criterion(msgspec.Struct, frozen=True, kw_only=True):
    """A criterion of a set; `rubrics` are properties by id, for every case, and the others are as ADK names them."""

    threshold: float
    num_samples: int = 5
    rubrics: Mapping[str, str] = {}
    include_intermediate_responses_in_final: bool = False
    evaluate_intermediate_nl_responses: bool = False
    stop_signal: str = "</finished>"


class AdkItem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to judge: the fields that are shown, and the properties by id.

    Attributes:
        part: items of one part are counted together, and a turn is the mean of its parts.
        known: what it is worth where no judge has to say.
    """

    shown: Mapping[str, str] = {}
    properties: Mapping[str, str] = {}
    part: int = 0
    known: float | None = None


def items_of(metric: str, criterion: Criterion, sample: Sample, trajectory: Trajectory) -> list[list[AdkItem]]:
    """Return the items to judge: one for each turn, or the whole conversation as the only one."""
    turns = played(sample, trajectory)
    match metric:
        case "hallucinations_v1":
            return [list(_sentences(criterion, trajectory, index, turn)) for index, turn in enumerate(turns)]
        case "per_turn_user_simulator_quality_v1":
            return _of_user(criterion, sample, turns)
        case "rubric_based_multi_turn_trajectory_quality_v1":
            said = "\n".join(
                line
                for index, turn in enumerate(turns)
                for line in (f"user: {turn.asked}", *_lines(_steps(trajectory, index)))
            )
            shown = {"question": turns[0].asked if turns else "", "answer": said}
            return [[AdkItem(shown=shown, properties=_properties(metric, criterion, sample, len(turns) - 1))]]
    return [
        [
            AdkItem(
                shown=_of_turn(metric, criterion, trajectory, index, turn),
                properties=_properties(metric, criterion, sample, index),
            )
        ]
        for index, turn in enumerate(turns)
    ]


def _of_turn(
    metric: str, criterion: Criterion, trajectory: Trajectory, place: int, turn: DeepevalTurn
) -> dict[str, str]:
    """Return what the judge is shown of a turn; nothing where there is nothing to compare with."""
    calls = "\n".join(
        f"{name}({json.dumps(arguments, ensure_ascii=False, default=str)}) -> {result or ''}"
        for name, arguments, result in turn.calls
    )
    if metric == "rubric_based_tool_use_quality_v1":
        return {"question": turn.asked, "answer": calls or "no tool was called"}
    answer = turn.answer
    if criterion.include_intermediate_responses_in_final:
        spoken = (step.message.text for step in _steps(trajectory, place) if step.message.role == "assistant")
        answer = "\n".join(text for text in spoken if text)
    shown = {"question": turn.asked, "answer": answer}
    if metric == "final_response_match_v2":
        return {} if turn.expected_answer is None else {**shown, "reference": turn.expected_answer}
    return {**shown, "solution": calls} if calls else shown


def _properties(metric: str, criterion: Criterion, sample: Sample, place: int) -> dict[str, str]:
    """Return what is judged, by id: the properties of the criterion, the case and the turn."""
    if metric not in TYPES:
        return {"same": SAME}
    turns = sample.known.invocations
    given = [*sample.known.rubrics, *(turns[place].rubrics if place < len(turns) else ())]
    properties = dict(criterion.rubrics)
    for rubric in given:
        kind, text = rubric.get("type"), rubric.get("rubric_content", {}).get("text_property")
        if text and (not kind or str(kind).upper() == TYPES[metric]):
            properties[str(rubric.get("rubric_id", ""))] = str(text)
    return properties


def _sentences(criterion: Criterion, trajectory: Trajectory, place: int, turn: DeepevalTurn) -> Iterator[AdkItem]:
    """Yield the sentences of the answer, and of what was said before it if asked for, each with what was known by then."""
    steps = _steps(trajectory, place)
    spoken = [number for number, step in enumerate(steps) if step.message.role == "assistant" and step.message.text]
    for part in spoken if criterion.evaluate_intermediate_nl_responses else spoken[-1:]:
        final = part == spoken[-1]
        context = [*_lines(steps[:part]), *(_lines(steps[part + 1 :]) if final else ())]
        sentences = [piece.strip() for piece in _END.split(steps[part].message.text)]
        sentences = [piece for piece in sentences if any(map(str.isalnum, piece))]
        for first in range(0, len(sentences), SENTENCES_AT_ONCE):
            some = sentences[first : first + SENTENCES_AT_ONCE]
            numbers = range(1, len(some) + 1)
            yield AdkItem(
                shown={
                    "question": turn.asked,
                    "answer": "\n".join(f"[{number}] {piece}" for number, piece in zip(numbers, some, strict=True)),
                    "solution": "\n".join(context) or "no tool was called",
                },
                properties={f"sentence {first + number}": f"Sentence [{number}] holds." for number in numbers},
                part=part,
            )


def _of_user(criterion: Criterion, sample: Sample, turns: Sequence[DeepevalTurn]) -> list[list[AdkItem]]:
    """Return for each turn what the user said; with the last one, that the conversation ends after it."""
    scenario = sample.known.scenario
    if scenario is None or not turns:
        return []
    begins = turns[0].asked.strip() == str(scenario.get("starting_prompt", "")).strip()
    items = [[AdkItem(known=float(begins))]]
    items.extend(
        [_next_words(criterion, scenario, turns[:index], turns[index].asked, part=0)] for index in range(1, len(turns))
    )
    items[-1].append(_next_words(criterion, scenario, turns, criterion.stop_signal, part=1))
    return items


def _next_words(
    criterion: Criterion, scenario: Mapping[str, object], turns: Sequence[DeepevalTurn], words: str, *, part: int
) -> AdkItem:
    persona = json.dumps(scenario.get("user_persona"), ensure_ascii=False, default=str)
    said = "\n".join(f"user: {turn.asked}\nagent: {turn.answer}" for turn in turns)
    question = f"Plan: {scenario.get('conversation_plan', '')}\nWho the user is: {persona}\n\n{said}"
    right = (
        "What the user says next follows the plan at this point of the conversation and fits who the user is. "
        f"'{criterion.stop_signal}' ends the conversation, which is right when the plan is done or the agent cannot go on."
    )
    return AdkItem(shown={"question": question, "answer": words}, properties={"user": right}, part=part)


def _steps(trajectory: Trajectory, place: int) -> list[Step]:
    return [step for step in trajectory.steps if step.turn == place and step.message.role != "user"]


def _lines(steps: Sequence[Step]) -> Iterator[str]:
    """Yield what was said, called and given back, a line each."""
    for step in steps:
        if step.message.role == "assistant" and step.message.text:
            yield f"{step.author}: {step.message.text}"
        for call in step.message.calls:
            arguments = json.dumps(call.arguments, ensure_ascii=False, default=str) if call.raw is None else call.raw
            yield f"{step.author} calls {call.name}({arguments})"
        for part in step.message.parts:
            if isinstance(part, ToolResult):
                yield f"{part.name} gives {part.content}"
