"""What a model is shown is what the official code shows: digests of messages and tools, made by running it.

`tests/data/bfcl_inputs.jsonl.gz` holds, for each sample, the SHA-256 of the messages of prompting mode and of the tool
list in chat-completions style, as sorted compact JSON. The data is the pinned package, fetched once and cached.
"""

import gc
import gzip
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.core.sample import Message, Sample, Text, Tool
from proctor_benchmarks.bfcl import dataset, dataset_agentic, dataset_turns, prompt, task, tools

pytestmark = pytest.mark.xdist_group("bfcl-data")

CORPUS = Path(__file__).parent.parent / "data" / "bfcl_inputs.jsonl.gz"


@pytest.fixture(scope="module")
def folder() -> Path:
    return dataset.locate()


@pytest.fixture(scope="module")
def shown(folder: Path) -> dict[str, Sample]:
    """Every sample of one turn as it is shown."""
    made = task("single_turn,format_sensitivity", data=str(folder))
    assert made.present is not None
    assert isinstance(made.samples, list)
    return {sample.id: made.present(sample) for sample in made.samples}


def digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def as_chat_completions(tool: Tool) -> dict[str, Any]:
    described = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": described | dict(tool.extra)}


def as_json(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    assert all(isinstance(part, Text) for message in messages for part in message.parts)
    return [{"role": message.role, "content": message.text} for message in messages]


def test_messages_and_tools_are_the_official_ones(shown: dict[str, Sample]) -> None:
    rows = [json.loads(line) for line in gzip.decompress(CORPUS.read_bytes()).splitlines()]
    rows = [row for row in rows if row["id"] in shown]
    differing: list[tuple[Any, ...]] = []
    for row in rows:
        turn = shown[row["id"]].turns[0]
        messages = as_json(turn.as_text or ())
        if digest(messages) != row["messages_sha256"]:
            differing.append((row["id"], "messages", row["system_chars"], len(messages[0]["content"])))
        meta = shown[row["id"]].meta  # in format sensitivity, tools are words only
        offered = turn.tools or tools.native_tools(tools.add_hints(meta["functions"], meta["category"]))
        if digest([as_chat_completions(tool) for tool in offered]) != row["tools_sha256"]:
            differing.append((row["id"], "tools"))
    assert len(rows) == 1280
    assert not differing, differing[:5]


def test_the_pinned_files_are_whole_and_known(folder: Path) -> None:
    for category, expected in dataset.CATEGORIES.items():
        kinds = {**dict.fromkeys(dataset.MULTI_TURN, dataset_turns), **dict.fromkeys(dataset.AGENTIC, dataset_agentic)}
        read: Any = kinds.get(category, dataset).read(folder, category)
        assert not read.notes
        assert len([entry for entry in read.entries if "prereq" not in entry.id]) == expected.size


def test_provenance_names_the_pinned_package(folder: Path) -> None:
    made = task("live_relevance", data=str(folder))
    assert made.version == made.provenance["version"] == "2026.3.23"
    assert made.provenance["sha256"] == dataset.PACKAGE.sha256
    assert made.provenance["warnings"] == []


def test_documents_are_printed_as_the_slower_standard_library_prints_them(folder: Path) -> None:
    constants = prompt.words(folder)
    for entry in dataset.entries(folder, "live_irrelevance"):
        functions = tools.add_hints(entry.functions, "live_irrelevance")
        assert json.dumps(functions, indent=4) in prompt.system_prompt(functions, constants)


def test_making_the_task_of_all_samples_costs_no_more_than_decoding_the_files_three_times(folder: Path) -> None:
    files = [folder / f"BFCL_v4_{category}.json" for category in dataset.SINGLE_TURN]

    def decode() -> None:
        for file in files:
            for line in file.read_bytes().splitlines():
                json.loads(line)

    gc.disable()  # what other tests left in memory is not the cost of this
    try:
        assert seconds(lambda: task(data=str(folder))) < 3 * seconds(decode)
    finally:
        gc.enable()


def seconds(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before
