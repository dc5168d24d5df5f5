"""Read answer trees: the steps of the branch that counts, whether it was finished, and the tools that do not exist.

An answer in the official converted form is a tree, of which each node has a role, a message and what came next:

    {"method": "CoT@1", "total_steps": 3, "final_answer": "{\"return_type\": \"give_answer\", …}", "answer_details":
     [{"role": "system", "message": "", "next": [{"role": "user", "message": "", "next": [
       {"role": "tool", "message": {"name": "Finish", "arguments": "…", "response": ""}, "next": []}]}]}]}

Source: StableToolBench aa4ed9f4737a, `toolbench/tooleval/utils.py`, `evaluators/registered_cls/rtl.py`.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.sample import Message, Part, Text, ToolCall, ToolResult
from proctor.core.trajectory import Step, Trajectory

FINISH = "Finish"
METHOD = "proctor"
_NAME = re.compile(r"'name':\s*'(.*?)'", re.DOTALL)
_GAVE_UP, _ANSWER = "give_up_and_restart", "give_answer"
_TYPE = '"return_type": "'

Node = dict[str, Any]
Answer = dict[str, Any]


class ToolEvalExample(msgspec.Struct, kw_only=True):
    """A query with its tools, as functions of chat completions, and the answer to it."""

    query: str
    available_tools: list[dict[str, Any]]
    answer: Answer

    @property
    def offered(self) -> list[str]:
        """Return the names of the tools; newer files wrap each in `function`."""
        return [str(tool.get("function", tool)["name"]) for tool in self.available_tools]


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer took: nodes of the tree, calls besides `Finish`, those that failed, and those of tools that do not exist."""

    steps: int
    calls: int
    failed_calls: int
    hallucinated: int


def steps(details: Sequence[Node]) -> tuple[str, str]:
    """Return the calls of the first branch as text, and the last of them.

    A message is written as Python writes it, on which the next test relies.
    """
    node, messages = details[0], []
    while "next" in node:
        if node["message"] and node["role"] == "tool":
            messages.append(node["message"])
        if not node["next"]:
            break
        node = node["next"][0]
    final = f"Final step: {messages[-1]}" if messages else ""
    return "\n".join(f"Step {number}: {message}" for number, message in enumerate(messages, start=1)), final


def is_finished(final_step: str) -> bool:
    """True if the last call is `Finish`; after another call it is not.

    >>> is_finished("Final step: {'name': 'Finish'}")
    True
    """
    return f"'name': '{FINISH}'" in final_step


def gave_up(final_answer: str) -> bool:
    """True if there is nothing to judge in a final answer."""
    return final_answer == "" or _GAVE_UP in final_answer


def names_are_offered(details: object, offered: Collection[str]) -> bool:
    """True if every call in the tree is of an offered tool; up to the first that is not, messages become texts, as officially.

    Raises:
        IndexError, TypeError, KeyError: a call has no name, as officially.
    """
    waiting = [details]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if node["role"] == "tool":
                if isinstance(node["message"], dict):
                    node["message"] = str(node["message"])
                if _NAME.findall(node["message"])[0] not in offered:
                    return False
            waiting.append(node["next"])
        elif isinstance(node, list):
            waiting += reversed(node)
        else:
            raise TypeError(f"no node: {type(node).__name__}")
    return True


def costs(answer: Answer, offered: Collection[str]) -> Costs:
    messages = [node["message"] for node in nodes(answer["answer_details"]) if node["role"] == "tool" and isinstance(node["message"], dict)]  # fmt: skip
    calls = [message for message in messages if message.get("name") != FINISH]
    return Costs(
        steps=answer.get("total_steps", 0),
        calls=len(calls),
        failed_calls=sum(_has_failed(str(call.get("response", ""))) for call in calls),
        hallucinated=sum(call.get("name") not in offered for call in calls),
    )


def _has_failed(response: str) -> bool:
    """True if a response of the tool server names an error."""
    return re.match(r'\s*\{\s*"error":\s*"[^"]', response) is not None


def nodes(details: Iterable[Node]) -> Iterator[Node]:
    """Yield the nodes of a tree, from the root on, each before what came next."""
    waiting = list(details)[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node["next"])


def is_tree(details: object) -> bool:
    """True if this is a tree that can be read: a list that is not empty, of nodes with role, message and next."""
    waiting = [details]
    while waiting:
        some = waiting.pop()
        if not isinstance(some, list) or not all(isinstance(node, dict) and {"role", "message", "next"} <= node.keys() for node in some):  # fmt: skip
            return False
        waiting += [node["next"] for node in some]
    return details != []


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """What a call of `Finish` does: the reply to the agent, and whether the task ends, and with an answer."""

    reply: str
    ends: bool = True
    is_answer: bool = False


def finish(arguments: str) -> Finished:
    """Return what a call of `Finish` with these arguments does; broken JSON is searched for both of them, as officially.

    >>> finish('{"return_type": "give_answer", "final_answer": "It is 5').is_answer, finish("{}").ends
    (True, False)
    """
    try:
        given = json.loads(arguments, strict=False)
    except (ValueError, RecursionError):
        given = {}
        if (at := arguments.find(_TYPE)) >= 0:
            rest = arguments[at + len(_TYPE) :]
            given["return_type"] = next((kind for kind in (_ANSWER, _GAVE_UP) if f'{_TYPE}{kind}"' in arguments), rest.split('",')[0])  # fmt: skip
        if '"final_answer": "' in arguments:
            given["final_answer"] = ""
    if not isinstance(given, dict) or "return_type" not in given:
        return Finished(reply='{error:"must have "return_type""}', ends=False)
    if given["return_type"] == _GAVE_UP:
        return Finished(reply='{"response":"chose to give up and restart"}')
    if given["return_type"] != _ANSWER:
        return Finished(reply='{error:""return_type" is not a valid choice"}', ends=False)
    if "final_answer" not in given:
        return Finished(reply='{error:"must have "final_answer""}', ends=False)
    return Finished(reply='{"response":"successfully giving the final answer."}', is_answer=True)


def chain(made: Iterable[tuple[str, object]], *, method: str = METHOD, final_answer: str = "") -> Answer:
    """Return the answer whose tree is one branch of nodes, given by role and message."""
    root: Node = {"role": "system", "message": "", "next": []}
    last, count = root, 1
    for role, message in (("user", ""), *made):
        node: Node = {"role": role, "message": "" if role in ("system", "user") else message, "next": []}
        last["next"].append(node)
        last, count = node, count + 1
    return {"method": method, "total_steps": count, "final_answer": final_answer, "answer_details": [root]}


def answer_of(trajectory: Trajectory) -> Answer:
    """Return a trajectory as an answer: calls with their results in order; words next to calls are left out, as officially.

    What was read from a converted file is that answer itself.
    """
    recorded = (trajectory.state or {}).get("answer")
    if isinstance(recorded, dict):
        return recorded
    results: dict[str, list[str]] = {}
    for step in trajectory.steps:
        for part in step.message.parts:
            if isinstance(part, ToolResult):
                results.setdefault(part.id, []).append(part.content)
    pairs: list[tuple[str, object]] = []
    final = ""
    for step in trajectory.steps:
        if step.message.role != "assistant":
            continue
        if not step.message.calls:
            pairs.append(("assistant", step.message.text))
        for call in step.message.calls:
            response = (results.get(call.id) or [""]).pop(0) if call.name != FINISH else ""
            pairs.append(("tool", {"name": call.name, "arguments": call.arguments_text(), "response": response}))
            if call.name == FINISH:
                final = call.arguments_text() if finish(call.arguments_text()).is_answer else ""
                break
    return chain(pairs, final_answer=final)


def trajectory_of(answer: Answer) -> Trajectory:
    """Return an answer as a trajectory, so that it can be looked at; the answer itself is kept in its state."""
    made: list[Step] = []
    for number, node in enumerate(nodes(answer["answer_details"])):
        message = node["message"]
        if node["role"] == "tool" and isinstance(message, Mapping):
            name, id = str(message.get("name", "")), f"call_{number}"
            call: Part = ToolCall.from_text(name, _text(message.get("arguments")), id=id)
            made.append(Step(message=Message(role="assistant", parts=(call,))))
            result = ToolResult(name=name, id=id, content=_text(message.get("response")))
            made.append(Step(message=Message(role="tool", parts=(result,)), author="tool"))
        elif node["role"] not in ("system", "user") and message:
            made.append(Step(message=Message(role="assistant", parts=(Text(text=_text(message)),))))
    return Trajectory(steps=tuple(made), tools="native", state={"answer": answer})


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
