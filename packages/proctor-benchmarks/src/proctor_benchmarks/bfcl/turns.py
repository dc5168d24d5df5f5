"""Samples of several turns: as they are kept, and as an agent is shown them.

At a turn of `multi_turn_miss_func` that adds functions, the user says a fixed sentence: with native tools they are offered
from then on, in words their documents come before it, as Python prints them.

Source: bfcl-eval 2026.3.23, `bfcl_eval/model_handler/base_handler.py` (`inference_multi_turn_FC`, `..._prompting`).
"""

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from proctor.core.sample import Message, Sample, Text, Tool, ToolCall, Turn
from proctor.core.trajectory import Step, Trajectory
from proctor_benchmarks.bfcl import dataset, dataset_turns, prompt, tools

MOST_STEPS = 21  # upstream stops when more than 20 steps of a turn were executed
_DONE = "All done."
_MORE_FUNCTIONS = "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC"

Mode = Literal["auto", "prompt", "native"]


class ShownTools(msgspec.Struct, frozen=True):
    """The system message and tools at the start of a conversation, and what later turns add, by turn."""

    system: Message
    tools: tuple[Tool, ...]
    added_tools: Mapping[int, tuple[Tool, ...]]
    added_documents: Mapping[int, str]


def sample_of(entry: dataset_turns.TurnsEntry, category: str) -> Sample:
    """Return a conversation as a sample; its variants in other categories are in the same cluster."""
    turns = [
        Turn(messages=tuple(Message.of(said.role, said.content) for said in messages), reference=answer)
        for messages, answer in zip(entry.question, entry.answers, strict=True)
    ]
    meta = {"category": category, "classes": entry.classes, "config": entry.config, "max_steps": MOST_STEPS}
    return Sample(
        id=entry.id,
        turns=tuple(turns),
        target=entry.answers,
        cluster=f"multi_turn_{entry.id.rpartition('_')[2]}",
        tags={"category": category, "group": dataset.CATEGORIES[category].group},
        meta={**meta, "missed": entry.missed} if entry.missed else meta,
    )


def present(sample: Sample, folder: Path, mode: Mode) -> Sample:
    """Return the sample with the functions and the official words."""
    missed = tuple((turn, tuple(names)) for turn, names in sample.meta.get("missed", {}).items())
    shown = shown_of(folder, tuple(sample.meta["classes"]), missed)
    sentence = str(prompt.words(folder)[_MORE_FUNCTIONS])
    turns = []
    offered = shown.tools
    for index, turn in enumerate(sample.turns):
        messages = as_text = turn.messages
        if index in shown.added_tools:
            offered += shown.added_tools[index]
            messages = (Message.of("user", sentence),)
            as_text = (Message.of("user", f"{shown.added_documents[index]}\n{sentence}"),)
        if index == 0:
            as_text = prompt.below(shown.system, as_text)
        if mode == "prompt":
            turns.append(replace(turn, messages=as_text, as_text=as_text))
        else:
            turns.append(replace(turn, messages=messages, tools=offered, as_text=as_text if mode == "auto" else None))
    return replace(sample, turns=tuple(turns))


def oracle(sample: Sample, folder: Path, *, native: bool) -> Trajectory:
    """Return the calls of the answer to each turn as one reply, and a word that ends the turn.

    Arguments that the answer gives by position are named, as upstream loses them otherwise.
    """
    documents = dataset_turns.documents(folder, sample.meta["classes"], sample.meta.get("missed", {}))
    parameters = {
        document["name"]: list(document["parameters"]["properties"])
        for document in (*documents.offered, *chain.from_iterable(documents.missed.values()))
    }
    steps: list[Step] = []
    for turn, answers in enumerate(sample.target):
        calls = [_named(answer, parameters) for answer in answers]
        texts = [f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})" for name, given in calls]
        as_text = (Text(text=f"[{', '.join(texts)}]"),)
        tool_calls = tuple(
            ToolCall(name=name, arguments=given, id=f"call_{turn}_{index}") for index, (name, given) in enumerate(calls)
        )
        replies = [tool_calls if native else as_text] if calls else []
        steps += [
            Step(message=Message(role="assistant", parts=parts), turn=turn) for parts in (*replies, (Text(text=_DONE),))
        ]
    return Trajectory(steps=tuple(steps), tools="native" if native else "text")


def _named(call: str, parameters: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, object]]:
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    name = ast.unparse(node.func)
    by_position = dict(zip(parameters[name], node.args, strict=False))
    by_name = {str(keyword.arg): keyword.value for keyword in node.keywords}
    return name, {key: ast.literal_eval(value) for key, value in {**by_position, **by_name}.items()}


@lru_cache(maxsize=256)
def shown_of(folder: Path, classes: Sequence[str], missed: Sequence[tuple[str, Sequence[str]]] = ()) -> ShownTools:
    """Return the official system message and the tools of classes."""
    documents = dataset_turns.documents(folder, classes, dict(missed))
    return ShownTools(
        system=Message.of("system", prompt.system_prompt(documents.offered, prompt.words(folder))),
        tools=_tools(documents.offered),
        added_tools={turn: _tools(added) for turn, added in documents.missed.items()},
        added_documents={turn: repr(list(added)) for turn, added in documents.missed.items()},
    )


def _tools(documents: Sequence[dict[str, object]]) -> tuple[Tool, ...]:
    copies: list[dict[str, object]] = msgspec.json.decode(msgspec.json.encode(documents))
    return tools.native_tools(copies)
