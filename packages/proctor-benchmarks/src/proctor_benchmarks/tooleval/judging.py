"""Ask a judge as officially: which questions in which order, in the official words, and what a reply means.

Each question is a function that the judge has to call, with a template for its prompt; both are read from the user's clone.
A reply that is no JSON is asked for again, three times in all; a word that the rule does not know is none.

Source: StableToolBench aa4ed9f4737a, `toolbench/tooleval/evaluators/registered_cls/{rtl,tooleval,base}.py`, `fac_eval.py`.
"""

import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject, Tool
from proctor.core.validation import in_words
from proctor_benchmarks.tooleval.answers import Answer, gave_up

AnswerStatus = Literal["Solved", "Unsolved", "Unsure"]
TaskStatus = Literal["Solvable", "Unsolvable", "Unsure"]
Evaluator = Literal["default", "normalized"]
ANSWER_STATUSES: tuple[AnswerStatus, ...] = ("Solved", "Unsolved", "Unsure")
TRIES = 3
SHOWN_CHARACTERS = 1_000  # of a final answer that is compared with another

Request = Callable[[str, str, Tool], Awaitable[str]]
Pick = Callable[[Sequence[int]], int]


class UnusableReply(Exception):
    """A reply of the judge that means nothing by the rule."""


class JudgeAsk(Protocol):
    """Puts one question to the judge, and returns the arguments of its call."""

    async def __call__(self, function: str, *, reason: bool = False, **values: object) -> object: ...


class _Function(msgspec.Struct, frozen=True):
    name: str
    description: str
    parameters: dict[str, Any]


class _Completion(msgspec.Struct, frozen=True):
    functions: list[_Function]
    model: str = ""
    temperature: float = 0.0
    max_tokens: int | None = None


class _Config(msgspec.Struct, frozen=True):
    prompt_template: str
    completions_kwargs: _Completion


class JudgeWording:
    """The questions of one official evaluator.

    Attributes:
        defaults: options with which the judge is asked officially.
    """

    def __init__(self, folder: Path) -> None:
        import yaml

        path = folder / "config.yaml"
        try:
            config = msgspec.convert(yaml.safe_load(path.read_bytes()), _Config)
            text = (folder / Path(config.prompt_template).name).read_text(encoding="utf-8")
        except (OSError, UnicodeError, yaml.YAMLError, msgspec.ValidationError, RecursionError) as error:
            raise BadInput("{path} is no evaluator of ToolEval: {error}.", path=path, error=in_words(error) if isinstance(error, msgspec.ValidationError) else error) from None  # fmt: skip
        given = config.completions_kwargs
        self.defaults: Mapping[str, object] = {"temperature": given.temperature} | ({"max_tokens": given.max_tokens} if given.max_tokens else {})  # fmt: skip
        self._functions = {function.name: function for function in given.functions}
        self._templates = {
            _tagged("name", each): _tagged("description", each) for each in re.findall(r"<function>(.*?)</function>", text, re.DOTALL)
        }  # fmt: skip

    def prompt(self, function: str, values: Mapping[str, object]) -> str:
        """Return the words of a question."""
        return self._templates[function].format(**values)

    def tool(self, function: str, *, reason: bool) -> Tool:
        """Return the function to be called; with a reason, that is a required argument of it."""
        one = self._functions[function]
        parameters = dict(one.parameters)
        if reason:
            parameters["required"] = [*parameters["required"], "reason"]
            reasoned = {"type": "string", "description": "explain your answer."}
            parameters["properties"] = {**parameters["properties"], "reason": reasoned}
        return Tool(name=function, description=one.description, parameters=parameters)


def _tagged(name: str, text: str) -> str:
    match = re.search(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
    return match[1] if match else ""


class Asking:
    """Puts questions to whoever `request` reaches: a text of arguments for a function, its prompt and its tool."""

    def __init__(self, wording: JudgeWording, request: Request) -> None:
        self._wording = wording
        self._request = request

    async def __call__(self, function: str, *, reason: bool = False, **values: object) -> object:
        """Return the arguments of the judge's call.

        Raises:
            Unusable: no try was JSON.
        """
        for _ in range(TRIES):
            text = await self._request(function, self._wording.prompt(function, values), self._wording.tool(function, reason=reason))  # fmt: skip
            try:
                return json.loads(text)
            except (ValueError, RecursionError) as error:
                said = str(error)
        raise UnusableReply(said)


async def judge_answer(ask: JudgeAsk, query: str, answer: Answer, *, reason: bool = False) -> tuple[AnswerStatus, str]:
    """Return whether an answer solves the query, and why: by its final answer, and where that is not sure by all of it.

    Raises:
        Unusable: the judge's reply means nothing.
    """
    final = answer["final_answer"]
    if gave_up(final):
        return "Unsolved", "Empty final answer!" if reason else ""
    reply = await ask("check_answer_status", reason=reason, query=query, answer=final)
    status = _word(reply, "answer_status", ANSWER_STATUSES)
    if status == "Unsure":
        reply = await ask("parse_answer_status", reason=reason, query=query, answer=json.dumps(answer))
        status = _word(reply, "answer_status", ANSWER_STATUSES)
    return status, _field(reply, "reason") if reason else ""


async def judge_task(
    ask: JudgeAsk, query: str, tools: Sequence[Mapping[str, object]], *, is_solved: bool = False, reason: bool = False
) -> tuple[TaskStatus, str]:
    """Return whether the query can be solved with these tools, and why; one that was solved can."""
    if is_solved:
        return "Solvable", "Task has been solved before." if reason else ""
    reply = await ask("check_task_solvable", reason=reason, task=json.dumps({"query": query, "available_tools": tools}))
    known: tuple[TaskStatus, ...] = ("Solvable", "Unsolvable", "Unsure")
    return _word(reply, "task_status", known), _field(reply, "reason") if reason else ""


def has_passed(answer: AnswerStatus, task: TaskStatus) -> bool | None:
    """Return whether an answer passes; None where that is not sure. What cannot be solved passes without a solution.

    >>> has_passed("Unsolved", "Unsolvable"), has_passed("Unsure", "Solvable")
    (True, None)
    """
    if answer == "Solved" or task == "Unsolvable":
        return True
    return False if (answer, task) == ("Unsolved", "Solvable") else None


class ComparedAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """Two or more answers in the order in which the judge is shown them.

    Attributes:
        statuses: what was known of them before; officially they are not shuffled along with the answers.
    """

    query: str
    tools: Sequence[JsonObject]
    answers: Sequence[Answer]
    statuses: Sequence[AnswerStatus | None] = (None, None)
    task: TaskStatus | None = None


def shown(answer: Answer) -> Answer:
    """Return an answer as it is compared: the final answer cut, and without the name of the method."""
    kept = {**answer, "final_answer": answer["final_answer"][:SHOWN_CHARACTERS], "answer_details": answer["answer_details"][:3000]}  # fmt: skip
    kept.pop("method", None)
    return kept


def shown_tools(tools: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Return tools without what they do."""
    return [{key: value for key, value in tool.items() if key not in ("description", "parameters")} for tool in tools]


async def prefer(ask: JudgeAsk, given: ComparedAnswers, pick: Pick) -> int:
    """Return the index of the better answer: solved beats unsure beats unsolved, and the judge decides among equals."""
    statuses = list(given.statuses)
    if statuses[0] is None:
        statuses = [(await judge_answer(ask, given.query, answer))[0] for answer in given.answers]
    for wanted in ("Solved", "Unsure", None):
        candidates = [index for index, status in enumerate(statuses) if wanted in (None, status)]
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            break
    if given.task is None:
        await judge_task(ask, given.query, given.tools, is_solved=wanted == "Solved")  # its answer is not used
    return await _select(ask, given.query, candidates, [given.answers[index] for index in candidates], pick)


async def _select(ask: JudgeAsk, query: str, candidates: Sequence[int], answers: Sequence[Answer], pick: Pick) -> int:
    parts = [(answer["final_answer"], str(answer["answer_details"])) for answer in answers]
    if all(part == parts[0] for part in parts):
        return pick(candidates)
    first, second = map(json.dumps, answers[:2])
    for _ in range(TRIES):
        try:
            reply = await ask("select_better_answer", reason=True, query=query, answer_0=first, answer_1=second)
            index = int(_field(reply, "index"))
        except (UnusableReply, ValueError, TypeError, OverflowError) as error:
            said = str(error)
            continue
        if index in candidates:
            return index
        said = f"there is no answer {index}"
    raise UnusableReply(said)


async def prefer_normalized(ask: JudgeAsk, given: ComparedAnswers, pick: Pick) -> int:
    """Return the index of the better answer by the older evaluator: solved in fewer steps, else by how well tools were used."""
    filled = [index for index, answer in enumerate(given.answers) if answer["final_answer"] != ""]
    if len(filled) not in (0, len(given.answers)):
        return pick(filled)
    solved = []
    for index in filled:
        reply = await ask("check_solve_query", query=given.query, final_answer=given.answers[index]["final_answer"])
        if bool(_field(reply, "is_solved")):
            solved.append(index)
    if not solved:
        return await _compare_details(ask, given.answers, pick)
    if len(solved) < len(filled):
        return pick(solved)
    fewest = min(int(answer["total_steps"]) for answer in given.answers)
    shortest = [index for index in solved if int(given.answers[index]["total_steps"]) == fewest]
    if len(shortest) == 1:
        return shortest[0]
    finals = [given.answers[index]["final_answer"] for index in shortest]
    if len(set(finals)) == 1:
        return shortest[pick(range(len(finals)))]
    for _ in range(TRIES * TRIES):  # upstream for ever
        reply = await ask("select_best_final_answer", query=given.query, final_answers=finals)
        selected = _number(reply, "best_answer_index")
        if 0 <= selected < len(finals):
            return shortest[selected]
    raise UnusableReply("none of the answers was selected")


async def _compare_details(ask: JudgeAsk, answers: Sequence[Answer], pick: Pick) -> int:
    replies = [await ask("parse_answer_details", answer_details=answer["answer_details"]) for answer in answers]
    points = []
    for answer, reply in zip(answers, replies, strict=True):
        count = int(answer["total_steps"])
        saved = -5 * math.log(answer["total_steps"]) if count > 0 else -100_000
        points.append(_number(reply, "succeed_tool_calling") * 10 + _number(reply, "used_tool_types") * 5 + saved)
    return pick([index for index, point in enumerate(points) if point == max(points)])


def _field(reply: Any, name: str) -> Any:
    try:
        return reply[name]
    except (KeyError, TypeError, IndexError):
        raise UnusableReply(f"there is no {name}") from None


def _number(reply: object, name: str) -> int:
    try:
        return int(_field(reply, name))
    except (ValueError, TypeError, OverflowError) as error:
        raise UnusableReply(f"{name}: {error}") from None


def _word(reply: object, name: str, known: "tuple[Any, ...]") -> Any:
    value = _field(reply, name)
    if value not in known:
        raise UnusableReply(f"{name}: {value!r}")
    return value


def ask_correctness(prompt: str, query: str, final_answer: str) -> str | None:
    """Return what a judge of final answers is asked; None where the answer is empty, which is wrong without asking."""
    return prompt.format(query=query, answer=final_answer) if final_answer != "" else None


def is_correct(reply: str) -> bool:
    """Return what a judge of final answers says; officially `unsolved` anywhere in it, also in the reason, is a no.

    >>> is_correct("Answer Status: Solved"), is_correct("It is not solved."), is_correct("Solved. Nothing is unsolved.")
    (True, True, False)
    """
    text = reply.lower()
    return "unsolved" not in text and "solved" in text
