"""Samples of memory and web search: as they are kept, and as an agent is shown them.

A question comes with a system message that asks for a short answer in a fixed form. With memory, that begins with the agent's role
in the scenario and with what is in its memory, as it is when the conversation begins.

Source: bfcl-eval 2026.3.23 (Apache-2.0), `bfcl_eval/model_handler/utils.py` (`add_memory_instruction_system_prompt`),
`bfcl_eval/utils.py` (`process_agentic_test_case`), and `_dump_core_memory_to_context` of the three memory classes.
"""

import json
from pathlib import Path

from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject, Message, Sample, Turn
from proctor.core.tally import PREPARATION
from proctor.core.trajectory import Step, Trajectory
from proctor_benchmarks.bfcl import dataset, prompt
from proctor_benchmarks.bfcl.dataset_agentic import AgenticEntry
from proctor_benchmarks.bfcl.turns import MOST_STEPS, Mode, shown_of

_ANSWER_FORMAT = "ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT"
_NO_CORE = "There is no content in the core memory at this point."
_NO_MEMORY = "There is no content in the memory at this point."


def sample_of(entry: AgenticEntry, category: str) -> Sample:
    """Return an entry as a sample. All questions of a scenario are in one cluster: they are answered from one memory."""
    memory = category in dataset.MEMORY
    classes = (f"MemoryAPI_{category.removeprefix('memory_')}",) if memory else ("WebSearchAPI",)
    config = {} if memory else {"WebSearchAPI": {"show_snippet": not category.endswith("no_snippet")}}
    meta: dict[str, object] = {"category": category, "classes": classes, "config": config, "max_steps": MOST_STEPS}
    tags = {"category": category, "group": dataset.CATEGORIES[category].group}
    if memory:
        meta["scenario"] = entry.scenario
        if entry.after:
            meta["after"] = entry.after
    if entry.answers is None:
        meta["category"] = category + dataset.WRITE_PHASE
        tags = {PREPARATION: category}
    return Sample(
        id=entry.id,
        turns=tuple(
            Turn(messages=tuple(Message.of(said.role, said.content) for said in messages))
            for messages in entry.question
        ),
        target=entry.answers,
        cluster=f"memory_{entry.scenario}" if memory else f"web_search_{entry.id.rpartition('_')[2]}",
        tags=tags,
        meta=meta,
    )


def is_agentic(sample: Sample) -> bool:
    """True for questions of memory and web search, and for the conversations in which memory is written."""
    return str(sample.meta.get("category")).removesuffix(dataset.WRITE_PHASE) in dataset.AGENTIC


def present(sample: Sample, folder: Path, mode: Mode) -> Sample:
    """Return the sample with its functions, the official words, and what is in memory at its start."""
    shown = shown_of(folder, tuple(sample.meta["classes"]))
    instructions = _instructions(sample, prompt.words(folder))
    lead = (Message.of("system", instructions),) if instructions else ()
    turns = []
    for index, turn in enumerate(sample.turns):
        messages = as_text = (*lead, *turn.messages) if index == 0 else turn.messages
        if index == 0:
            as_text = prompt.below(shown.system, messages)
        if mode == "prompt":
            turns.append(replace(turn, messages=as_text, as_text=as_text))
        else:
            in_words = as_text if mode == "auto" else None
            turns.append(replace(turn, messages=messages, tools=shown.tools, as_text=in_words))
    return replace(sample, turns=tuple(turns))


def oracle(sample: Sample) -> Trajectory:
    """Return an accepted answer in the official form; in a write phase, a word for each turn."""
    answer = repr({"answer": sample.target[0], "context": ""}) if sample.target else "Noted."
    message = Message.of("assistant", answer)
    return Trajectory(steps=tuple(Step(message=message, turn=turn) for turn in range(len(sample.turns))))


def _instructions(sample: Sample, words: JsonObject) -> str:
    try:
        parts = [] if sample.target is None else [str(words[_ANSWER_FORMAT])]
        if scenario := sample.meta.get("scenario"):
            [name] = sample.meta["classes"]
            kind = "UNIFIED" if name == "MemoryAPI_rec_sum" else "CORE_ARCHIVAL"
            role = words["MEMORY_AGENT_SETTINGS"][scenario]
            template = words[f"MEMORY_BACKEND_INSTRUCTION_{kind}"]
            parts.insert(0, template.format(scenario_setting=role, memory_content=_memory(sample, name)))
    except (KeyError, IndexError, AttributeError) as error:
        raise BadInput(
            "The official prompts are not those of bfcl-eval {version}: {error}.",
            version=dataset.PACKAGE.version,
            error=error,
        ) from error
    return "\n\n".join(parts)


def _memory(sample: Sample, name: str) -> str:
    """Return what the model sees of its memory; at the start of a scenario there is nothing in it."""
    kept = (sample.known.start or {}).get(name) or {}
    match name:
        case "MemoryAPI_rec_sum":
            return str(kept.get("memory") or _NO_MEMORY)
        case "MemoryAPI_vector":
            return json.dumps(kept.get("core_memory", {}).get("store", {}), indent=4)
    return json.dumps(kept["core_memory"], indent=4) if kept.get("core_memory") else _NO_CORE
