"""Convert raw answer files of the official search, `<query id>_<method>.json`, to answer trees of one branch.

A finished search has the messages of its last conversation. Of another one, one try (a chain) or one path through the search
tree is taken at random, with chances that are kept here, so that all that the official code may make of a file is known.

Source: StableToolBench aa4ed9f4737a and ToolBench d56fdd89faf8, `toolbench/tooleval/convert_to_answer_format.py`.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from proctor.core.sample import JsonObject
from proctor_benchmarks.tooleval.answers import FINISH, ToolEvalExample, chain

Edition = Literal["stable", "toolbench"]
Made = list[tuple[str, object]]  # nodes of a branch, by role and message


_BROKEN = (KeyError, TypeError, IndexError, AttributeError, RecursionError)


class Unconvertible(Exception):
    """A file for which the official conversion breaks off too."""


class _Path:
    """A node of the search tree, and what comes next."""

    def __init__(self, role: str, message: Any, following: "list[_Path]") -> None:
        self.role = role
        self.message = message
        self.following = following


def convert(raw: Mapping[str, object], method: str, edition: Edition, seed: object) -> ToolEvalExample:
    """Return a raw answer converted; what is left to chance is the same for the same seed.

    Raises:
        Unconvertible: something is missing in it, or the method is unknown.
    """
    pairs = alternatives(raw, method, edition)
    drawn = random.Random(str(seed)).random()  # noqa: S311 - no secret
    for chance, example in pairs:  # noqa: B007 - the last one where rounding left something
        drawn -= chance
        if drawn < 0:
            break
    if isinstance(example, Unconvertible):
        raise example
    return example


def alternatives(raw: JsonObject, method: str, edition: Edition) -> list[tuple[float, ToolEvalExample | Unconvertible]]:
    """Return every possible outcome of the official conversion of a raw answer, each with its probability; the conversion is random.

    Raises:
        Unconvertible: see `convert`.
    """
    try:
        given = raw["answer_generation"]
        fields = {"query": given["query"], "available_tools": given["function"]}
        pairs: list[tuple[float, Made | Unconvertible]]
        if given["valid_data"]:
            pairs = [(1.0, list(_conversation(given["train_messages"][-1], edition)))]
        elif "CoT" in method or "cot" in method:
            pairs = [(1 / len(raw["trys"]), _tried(each)) for each in raw["trys"]]
        elif "DFS" in method or "dfs" in method:
            pairs = [*_walks([_read_tree(child) for child in raw["tree"]["tree"]["children"]])]
        else:
            raise Unconvertible(f"the method {method} is neither a chain nor a tree")
        if not pairs:
            raise Unconvertible("there is no try")
        final = given["final_answer"]
    except _BROKEN as error:
        raise Unconvertible(f"{type(error).__name__}: {error}") from None
    return [
        (chance, one if isinstance(one, Unconvertible) else ToolEvalExample(**fields, answer=chain(one, method=method, final_answer=final)))
        for chance, one in pairs
    ]  # fmt: skip


def _conversation(messages: Sequence[JsonObject], edition: Edition) -> Iterator[tuple[str, object]]:
    """Yield the nodes of a conversation, from its third message on."""
    silent = {"system", "user", "function"} | ({"tool"} if edition == "stable" else set())
    index, has_node = 2, False
    while index < len(messages):
        message = messages[index]
        index += 1
        if message["role"] in silent:
            continue
        if message["role"] != "assistant":
            raise Unconvertible(f"the role {message['role']} is unknown")
        if "function_call" in message:
            call = message["function_call"]
            response = messages[index]["content"] if call["name"] != FINISH else ""
            yield _tool(call["name"], call["arguments"], response)
            index += 1  # the result, also where it is that of Finish
        elif edition == "stable" and message.get("tool_calls") is not None:
            calls = list(_calls(message["tool_calls"], messages[index:]))
            if not (calls or has_node):  # upstream adds the last node again, and here there is none
                raise Unconvertible("the first calls have no results")
            yield from calls
        else:
            yield "assistant", message["content"]
        has_node = True


def _calls(calls: Sequence[Any], later: Sequence[Mapping[str, object]]) -> Iterator[tuple[str, object]]:
    """Yield the calls of one message that have a result, up to the first that finishes."""
    for call in calls:
        id, name, arguments = call["id"], call["function"]["name"], call["function"]["arguments"]
        if name == FINISH:
            yield _tool(name, arguments, "")
            return
        for message in later:
            if message["role"] == "tool" and message["tool_call_id"] == id:
                yield _tool(name, arguments, message["content"])
                break


def _tool(name: object, arguments: object, response: object) -> tuple[str, object]:
    return "tool", {"name": name, "arguments": arguments, "response": response}


def _tried(tried: JsonObject) -> Made | Unconvertible:
    try:
        return list(_chain_nodes(tried["chain"]))
    except _BROKEN as error:
        return Unconvertible(f"{type(error).__name__}: {error}")


def _chain_nodes(tried: Sequence[Mapping[str, object]]) -> Iterator[tuple[str, object]]:
    following = iter(tried)
    for node in following:
        kind = node["node_type"]
        if kind == "Action":
            given = next(following, None) or {}
            yield _tool(node["description"], given["description"], given["observation"])
        elif kind == "Thought":
            yield "assistant", node["description"]
        else:
            raise KeyError(kind)


def _read_tree(raw: JsonObject) -> _Path:
    """Return a search tree in which an action and the first of its inputs are one node; other inputs stay raw."""
    following = [_read_tree(child) for child in raw["children"]]
    kept = {**raw, "children": None if following else []}
    role = raw["node_type"]
    if role == "Thought":
        return _Path("assistant", raw["description"], following)
    if role not in ("Action", "Action Input", "system", "user"):
        raise Unconvertible(f"the node type {role} is unknown")
    return _Path(role, kept, following)


def _joined(node: _Path) -> _Path:
    given = next((child for child in node.following if child.role == "Action Input"), None)
    if node.role != "Action" or given is None:
        return node
    role, message = _tool(node.message["description"], given.message["description"], given.message["observation"])
    return _Path(role, message, [child for child in node.following if child is not given] + given.following)


def _walks(nodes: Sequence[_Path], chance: float = 1.0) -> Iterator[tuple[float, Made]]:
    """Yield each way down to a leaf with its chance: at every node, what comes next is equally likely."""
    if not nodes:
        yield chance, []
    for node in map(_joined, nodes):
        for likely, rest in _walks(node.following, chance / len(nodes)):
            yield likely, [(node.role, node.message), *rest]
