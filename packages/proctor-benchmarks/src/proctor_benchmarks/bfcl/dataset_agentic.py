"""The entries of memory and web search: one question each, and the conversations in which memory is written before.

    {"id": "memory_0-customer-0", "question": [[{"role": "user", "content": "..."}]], "involved_classes": ["MemoryAPI"], "scenario": "customer"}
    {"id": "memory_0-customer-0", "ground_truth": ["Michael"], "source": "..."}
    {"id": "memory_prereq_1-customer-1", "question": [[...], ...], "involved_classes": ["MemoryAPI"], "scenario": "customer", "topic": "..."}

The three memory categories ask the same questions, and so do the two of web search; ids name the category. The conversations of a
scenario (`memory_prereq_conversation/memory_<scenario>.json`) are held in their order, and its questions asked after the last.

Source: bfcl-eval 2026.3.23 (Apache-2.0), `bfcl_eval/utils.py` (`process_memory_test_case`, `process_web_search_test_case`).
"""

from pathlib import Path

import msgspec

from proctor.core.sentence import Sentence, say
from proctor_benchmarks.bfcl import dataset

SCENARIOS = ("student", "customer", "finance", "healthcare", "notetaker")

_PREREQUISITES = "memory_prereq_conversation"


class AgenticEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A question with its accepted answers, or a conversation in which memory is written, which has none.

    Attributes:
        after: the id of the conversation whose memory it starts with.
    """

    id: str
    question: tuple[tuple[dataset.QuestionMessage, ...], ...]
    scenario: str = ""
    after: str = ""
    answers: tuple[str, ...] | None = None


class AgenticData(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of a category, what writes memory first; the digests of its files, and what is worth knowing about them."""

    entries: list[AgenticEntry]
    digests: dict[str, str]
    notes: tuple[Sentence, ...] = ()


class _Question(dataset.HasId, frozen=True):
    question: tuple[tuple[dataset.QuestionMessage, ...], ...]
    scenario: str = ""


class _Answer(dataset.HasId, frozen=True):
    ground_truth: tuple[str, ...]


_questions = msgspec.json.Decoder(_Question)
_answers = msgspec.json.Decoder(_Answer)


def read(folder: Path, category: str) -> AgenticData:
    """Read and check a category of memory or web search.

    Raises:
        BadInput: a missing or malformed file, or a question of an unknown scenario.
    """
    questions, answers, digests, notes = dataset.read_pairs(folder, category, _questions, _answers, _check)
    entries: list[AgenticEntry] = []
    last = {"": ""}
    for scenario in dict.fromkeys(question.scenario for question in questions if question.scenario):
        written, digest = _written(folder, category, scenario)
        entries += written
        last[scenario] = written[-1].id
        digests |= digest
    file = dataset.CATEGORIES[category].file
    entries += [
        AgenticEntry(
            id=question.id.replace(file, category, 1),
            question=question.question,
            scenario=question.scenario,
            after=last[question.scenario],
            answers=answer.ground_truth,
        )
        for question, answer in zip(questions, answers or (), strict=True)
    ]
    return AgenticData(entries=entries, digests=digests, notes=notes)


def _written(folder: Path, category: str, scenario: str) -> tuple[list[AgenticEntry], dict[str, str]]:
    """Return the conversations of a scenario, each with the one before it."""
    path = folder / _PREREQUISITES / f"memory_{scenario}.json"
    data = dataset.read_bytes(path)
    rows: list[_Question] = dataset.read_lines(path, data, _questions)
    dataset.check_ids(path, data, f"memory{dataset.WRITE_PHASE}", rows)
    entries: list[AgenticEntry] = []
    for row in rows:
        entries.append(
            AgenticEntry(
                id=row.id.replace("memory", category, 1),
                question=row.question,
                scenario=scenario,
                after=entries[-1].id if entries else "",
            )
        )
    return entries, {f"{_PREREQUISITES}/{path.name}": dataset.sha16(data)}


def _check(path: Path, data: bytes, category: str, questions: list[_Question]) -> None:
    dataset.check_ids(path, data, dataset.CATEGORIES[category].file, questions)
    needs_scenario = category in dataset.MEMORY
    for index, question in enumerate(questions):
        if len(question.question) != 1 or not question.question[0]:
            reason = say("'{id}' does not have one turn of messages", id=question.id)
            raise dataset.bad_line(path, data, index, reason)
        if needs_scenario and question.scenario not in SCENARIOS:
            raise dataset.bad_line(
                path,
                data,
                index,
                say("'{id}' is of an unknown scenario, {name}", id=question.id, name=question.scenario),
            )
