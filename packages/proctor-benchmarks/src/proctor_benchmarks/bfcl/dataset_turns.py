"""The entries of the multi-turn categories, and the documents of the functions they offer.

    {"id": "multi_turn_base_0", "question": [[{"role": "user", "content": "..."}], ...], "involved_classes": ["TwitterAPI"],
     "initial_config": {"TwitterAPI": {...}}, "missed_function": {"3": ["sort"]}}
    {"id": "multi_turn_base_0", "ground_truth": [["cd(folder='document')", "sort('a.txt')"], []]}

`missed_function` is there in `multi_turn_miss_func` only: functions that are offered from that turn on. `path` and
`excluded_function` are never read, as upstream.

Source: bfcl-eval 2026.3.23 (Apache-2.0), `bfcl_eval/utils.py` (`populate_test_cases_with_predefined_functions`) and
`constants/executable_backend_config.py`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject
from proctor.core.sentence import Sentence, say
from proctor_benchmarks.bfcl import dataset, tools
from proctor_benchmarks.bfcl.worker_program import MODULE_BY_CLASS

DOCUMENTS_BY_CLASS = {**MODULE_BY_CLASS, "WebSearchAPI": "web_search"}  # a document is named as the module is


class TurnsEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation with the classes it acts on, how they begin, and the calls that are the answer to each turn."""

    id: str
    question: tuple[tuple[dataset.QuestionMessage, ...], ...]
    classes: tuple[str, ...]
    config: JsonObject
    missed: Mapping[str, tuple[str, ...]]
    answers: tuple[tuple[str, ...], ...]


class TurnsData(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of a category, the digests of its files, and what is worth knowing about them."""

    entries: list[TurnsEntry]
    digests: dict[str, str]
    notes: tuple[Sentence, ...] = ()


class Documents(msgspec.Struct, frozen=True):
    """Function documents: those offered from the start, and those added at a turn. Only the first have a language hint, as upstream."""

    offered: tuple[tools.Document, ...]
    missed: Mapping[int, tuple[tools.Document, ...]]


class _Question(dataset.HasId, frozen=True):
    question: tuple[tuple[dataset.QuestionMessage, ...], ...]
    involved_classes: tuple[str, ...]
    initial_config: Mapping[str, object] = {}
    missed_function: Mapping[str, tuple[str, ...]] = {}


class _Answer(dataset.HasId, frozen=True):
    ground_truth: tuple[tuple[str, ...], ...]


_questions = msgspec.json.Decoder(_Question)
_answers = msgspec.json.Decoder(_Answer)
_documents = msgspec.json.Decoder(dict[str, Any])


def read(folder: Path, category: str) -> TurnsData:
    """Read and check a multi-turn category.

    Raises:
        BadInput: a missing or malformed file, an unknown class, or other turns in the answer than in the question.
    """
    questions, answers, digests, notes = dataset.read_pairs(folder, category, _questions, _answers, _check)
    entries = []
    for question, answer in zip(questions, answers or (), strict=True):
        if len(question.question) != len(answer.ground_truth):
            raise BadInput(
                "'{id}' has {count} turns, and answers to {answers}.",
                id=question.id,
                count=len(question.question),
                answers=len(answer.ground_truth),
            )
        entries.append(
            TurnsEntry(
                id=question.id,
                question=question.question,
                classes=question.involved_classes,
                config=question.initial_config,
                missed=question.missed_function,
                answers=answer.ground_truth,
            )
        )
    return TurnsData(entries=entries, digests=digests, notes=notes)


def documents(folder: Path, classes: Sequence[str], missed: Mapping[str, Sequence[str]]) -> Documents:
    """Return the documents of the public functions of classes, in their order."""
    offered = [document for name in classes for document in _of_class(folder, name)]
    added: dict[int, tuple[tools.Document, ...]] = {}
    for turn, names in missed.items():
        withheld = [next((document for document in offered if document["name"] == name), None) for name in names]
        added[int(turn)] = tuple(document for document in withheld if document is not None)
        offered = [document for document in offered if document not in added[int(turn)]]
    return Documents(tuple(tools.add_hints(offered, "multi_turn")), added)


def _check(path: Path, data: bytes, category: str, questions: list[_Question]) -> None:
    dataset.check_ids(path, data, category, questions)
    for index, question in enumerate(questions):
        for name in question.involved_classes:
            if name not in DOCUMENTS_BY_CLASS:
                reason = say("'{id}' acts on an unknown class, {name}", id=question.id, name=name)
                raise dataset.bad_line(path, data, index, reason)


@cache
def _of_class(folder: Path, name: str) -> tuple[tools.Document, ...]:
    path = folder / "multi_turn_func_doc" / f"{DOCUMENTS_BY_CLASS[name]}.json"
    return tuple(dataset.read_lines(path, dataset.read_bytes(path), _documents))
