"""The official data files: where they are, which categories there are, and their entries.

A question and its answer, one line each, in `BFCL_v4_simple_python.json` and in `possible_answer/` of the same name:

    {"id": "x_0", "question": [[{"role": "user", "content": "..."}]], "function": [{"name": "geo.area",
     "description": "...", "parameters": {"type": "dict", "properties": {"base": {"type": "integer"}}, "required": []}}]}
    {"id": "x_0", "ground_truth": [{"geo.area": {"base": [3, ""]}}]}

Source: bfcl-eval 2026.3.23 (Apache-2.0), `bfcl_eval/constants/category_mapping.py` and `bfcl_eval/utils.py`.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.near import did_you_mean, near
from proctor.core.sample import Role
from proctor.core.sentence import Sentence, say
from proctor.core.validation import in_words
from proctor.runtime.files import reading
from proctor_adapters.datasets import fetch
from proctor_benchmarks.bfcl.formats import FORMAT_SENSITIVITY, FORMATS

PACKAGE = fetch.Package(
    name="bfcl-eval",
    version="2026.3.23",
    file="bfcl_eval-2026.3.23-py3-none-any.whl",
    sha256="3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a",
    prefix="bfcl_eval/",
    command="proctor data pull bfcl",
)
LICENCE = "Apache-2.0"
EDGE_CASES = "edge-cases"
"""Boundary cases of our own, in the official layout; `variations.jsonl` has replies to each that are right, and wrong ones."""

EDGE_CATEGORIES = ("simple_python", "multiple", "parallel", "irrelevance")


class Category(msgspec.Struct, frozen=True):
    """A category: its group, its official size, and the first 16 digits of its files' sha256.

    `file` is its name in those of its files that it shares with others, `folder` that of its results where it is not the group.
    """

    group: str
    size: int
    questions: str
    answers: str = ""
    file: str = ""
    folder: str = ""


CATEGORIES = {
    "simple_python": Category("non_live", 400, "82dd63ba502eb252", "90cd5bc653690ee8"),
    "simple_java": Category("non_live", 100, "13d2303a125b0875", "78f25616084044fa"),
    "simple_javascript": Category("non_live", 50, "329e67fedf79a624", "e2f9f2e51d88e0c8"),
    "multiple": Category("non_live", 200, "aef168155ebd74b7", "244e00ce9395df94"),
    "parallel": Category("non_live", 200, "19f51a82eff42e5d", "8a6aa19c1adddc6a"),
    "parallel_multiple": Category("non_live", 200, "8863ea8433239f55", "5ebf24f458c1f163"),
    "irrelevance": Category("non_live", 240, "2b6ed4c2e992cdcf"),
    "live_simple": Category("live", 258, "1af2ac87dca47556", "fec9cfa9744a936f"),
    "live_multiple": Category("live", 1053, "fd8ccfad4d911420", "97e90d59c5bd76c5"),
    "live_parallel": Category("live", 16, "6c26e9fdc3350cf5", "8a9f189ff0e832eb"),
    "live_parallel_multiple": Category("live", 24, "21d4b9319c1faac4", "f5b5f360556c5feb"),
    "live_irrelevance": Category("live", 884, "6559fda2beaceb60"),
    "live_relevance": Category("live", 16, "e03f9e241657a137"),
    "multi_turn_base": Category("multi_turn", 200, "1a21a995d06fd6f2", "1fee67823b317571"),
    "multi_turn_miss_func": Category("multi_turn", 200, "87d28ce10e37d864", "69e679b806d1c871"),
    "multi_turn_miss_param": Category("multi_turn", 200, "f0c66dda3795f5f5", "59c442901779e2c3"),
    "multi_turn_long_context": Category("multi_turn", 200, "78c3268c5cc8e97c", "e82aa0e839c39d23"),
    **{
        f"memory_{backend}": Category(
            "memory", 155, "40fc21d4528af53c", "2355cf8d842f94af", "memory", f"agentic/memory/{backend}"
        )
        for backend in ("kv", "vector", "rec_sum")
    },
    **{
        f"web_search_{variant}": Category(
            "web_search", 100, "6fc41d96d003dc84", "771cab45fdad5744", "web_search", "agentic"
        )
        for variant in ("base", "no_snippet")
    },
    FORMAT_SENSITIVITY: Category(FORMAT_SENSITIVITY, 5200, "1e7ebd0ec441198d"),
}
SINGLE_TURN = tuple(name for name, category in CATEGORIES.items() if category.group in ("non_live", "live"))
MULTI_TURN = ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")
MEMORY = ("memory_kv", "memory_vector", "memory_rec_sum")
WEB_SEARCH = ("web_search_base", "web_search_no_snippet")
AGENTIC = (*MEMORY, *WEB_SEARCH)
WRITE_PHASE = "_prereq"
"""What the category of a write phase of memory ends with, in ids and names of files."""

_NON_PYTHON = ("simple_java", "simple_javascript")
_SCORING = (*SINGLE_TURN, *MULTI_TURN, *AGENTIC)
COLLECTIONS: dict[str, tuple[str, ...]] = {
    "all": (*_SCORING, FORMAT_SENSITIVITY),
    "all_scoring": _SCORING,
    "single_turn": SINGLE_TURN,
    "non_live": tuple(name for name, category in CATEGORIES.items() if category.group == "non_live"),
    "live": tuple(name for name, category in CATEGORIES.items() if category.group == "live"),
    "python": tuple(name for name in SINGLE_TURN if name not in _NON_PYTHON),
    "non_python": _NON_PYTHON,
    "multi_turn": MULTI_TURN,
    "agentic": AGENTIC,
    "memory": MEMORY,
    "web_search": WEB_SEARCH,
}


class QuestionMessage(msgspec.Struct, frozen=True, gc=False):
    """One message of a question."""

    role: Role
    content: str


class BfclEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A question with its function documents as in the file, and its answers (None where no call is the answer)."""

    id: str
    question: tuple[QuestionMessage, ...]
    functions: list[dict[str, object]]
    answers: list[dict[str, Any]] | None = None


class CategoryData(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of a category, with the digests of its files and notes for the user."""

    entries: list[BfclEntry]
    digests: dict[str, str]
    notes: tuple[Sentence, ...] = ()


class HasId(msgspec.Struct, frozen=True):
    """A line of a data file."""

    id: str


class _Question(HasId, frozen=True):
    question: list[tuple[QuestionMessage, ...]]
    function: list[dict[str, object]]


class _Answer(HasId, frozen=True):
    ground_truth: list[dict[str, object]]


_questions = msgspec.json.Decoder(_Question)
_answers = msgspec.json.Decoder(_Answer)
_ids = msgspec.json.Decoder(HasId)


def names_of(category: str | Sequence[str]) -> list[str]:
    """Return the names in a category argument.

    >>> names_of("multiple, live"), names_of(["multiple", "live"])
    (['multiple', 'live'], ['multiple', 'live'])
    """
    parts = [category] if isinstance(category, str) else category
    return [name.strip() for part in parts for name in part.split(",") if name.strip()]


def expand(names: Sequence[str]) -> list[str]:
    """Return the categories that names of categories, groups and collections stand for, each once, in the order of the table.

    Raises:
        BadInput: an unknown name; the nearest match is named.

    >>> expand(["non_python", "simple_java", "live_relevance"])
    ['simple_java', 'simple_javascript', 'live_relevance']
    """
    wanted: set[str] = set()
    for name in names:
        members = COLLECTIONS.get(name, (name,))
        if not set(members) <= CATEGORIES.keys():
            raise _unknown(name)
        wanted.update(members)
    if not wanted:
        raise BadInput("No category of BFCL is named. Known: {known}.", known=_known_names())
    return [name for name in CATEGORIES if name in wanted]


def category_of(id: str) -> str:
    """Return the category that an id is of.

    >>> category_of("live_simple_106-63-0"), category_of("multi_turn_base_7")
    ('live_simple', 'multi_turn_base')
    """
    return id.partition(":")[0].rpartition("_")[0]


def result_path(model: Path, category: str, kind: str = "result") -> Path:
    """Return where the official tool keeps the results (or `kind="score"`) of a category below the folder of a model.

    >>> result_path(Path("m"), "memory_kv_prereq").as_posix()
    'm/agentic/memory/kv/BFCL_v4_memory_kv_prereq_result.json'
    """
    about = CATEGORIES[category.removesuffix(WRITE_PHASE)]
    return model / (about.folder or about.group) / f"BFCL_v4_{category}_{kind}.json"


def locate(source: str | Path | None = None, *, progress: fetch.Progress | None = None) -> Path:
    """Return the folder that directly holds the `BFCL_v4_*.json` files.

    Args:
        source: a clone of the official repository, its data folder, an unpacked wheel, the pinned wheel, `edge-cases`, or None
            for `PROCTOR_BFCL_DATA`, else the cache, else a download into it.
        progress: called with the progress of a download.

    Raises:
        BadInput: nothing of the kind is there. Nothing is downloaded when a source was given.
    """
    source = source or os.environ.get("PROCTOR_BFCL_DATA") or None
    if source is None:
        return fetch.pull(PACKAGE, progress=progress) / "bfcl_eval" / "data"
    if source == EDGE_CASES:
        return Path(__file__).with_name("edge_cases")
    path = Path(source).expanduser()
    if path.is_file() and path.suffix == ".whl":
        return fetch.pull(PACKAGE, source=path) / "bfcl_eval" / "data"
    for below in ("", "data", "bfcl_eval/data", "berkeley-function-call-leaderboard/bfcl_eval/data"):
        if any((path / below).glob("BFCL_v4_*.json")):
            return (path / below).absolute()
    raise BadInput(
        "{path} holds no data of BFCL v4: expected BFCL_v4_*.json files in it, or in bfcl_eval/data below it. Leave it out to use the pinned package.",
        path=path,
    )


def entries(folder: Path, category: str) -> list[BfclEntry]:
    """Return the entries of a category; see `read`."""
    return read(folder, category).entries


def read(folder: Path, category: str) -> CategoryData:
    """Read and check a category.

    Raises:
        BadInput: a missing file; a line that is no JSON or has the wrong shape; an id twice; a question without
            an answer, or with one in another place (the official code pairs them by position).
    """
    if category == FORMAT_SENSITIVITY:
        path = _file(folder, category)
        return _reworded(folder, path, read_bytes(path))
    questions, answers, digests, notes = read_pairs(folder, category, _questions, _answers, _check)
    found_entries = [
        BfclEntry(
            id=question.id,
            question=question.question[0],
            functions=question.function,
            answers=answers[index].ground_truth if answers is not None else None,
        )
        for index, question in enumerate(questions)
    ]
    return CategoryData(entries=found_entries, digests=digests, notes=notes)


def read_pairs(
    folder: Path,
    category: str,
    question_decoder: msgspec.json.Decoder[Any],
    answer_decoder: msgspec.json.Decoder[Any],
    check: Callable[[Path, bytes, str, list[Any]], None],
) -> tuple[list[Any], list[Any] | None, dict[str, str], tuple[Sentence, ...]]:
    """Return the questions of a category, their answers where it has any, the digests of its files, and notes on them."""
    expected = CATEGORIES[category]
    path = _file(folder, category)
    data = read_bytes(path)
    questions = read_lines(path, data, question_decoder)
    digests = {path.name: sha16(data)}
    check(path, data, category, questions)
    answers: list[Any] | None = None
    if expected.answers:
        answers_path = _file(folder / "possible_answer", category)
        answers_data = read_bytes(answers_path)
        answers = read_lines(answers_path, answers_data, answer_decoder)
        digests[f"possible_answer/{path.name}"] = sha16(answers_data)
        _check_pairs(answers_path, answers_data, questions, answers)
    notes: list[Sentence] = []
    for (name, digest), known in zip(digests.items(), (expected.questions, expected.answers), strict=False):
        notes += _other_revision(name, digest, known)
    return questions, answers, digests, tuple(notes)


def _reworded(folder: Path, path: Path, data: bytes) -> CategoryData:
    """Return the entries of format sensitivity: chosen questions of other categories, each in all formats.

    The file is one object, `{category: [ids]}`. Inside a category the order is that of the data.
    """
    try:
        chosen = msgspec.json.decode(data, type=dict[str, list[str]])
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput("{path}: {error}.", path=path, error=in_words(error)) from None
    digests, notes = (
        {path.name: sha16(data)},
        _other_revision(path.name, sha16(data), CATEGORIES[FORMAT_SENSITIVITY].questions),
    )
    reworded: list[BfclEntry] = []
    for category, wanted in chosen.items():
        if category not in SINGLE_TURN:
            raise BadInput("{path}: '{category}' is no category of one turn.", path=path, category=category)
        original = read(folder, category)
        digests |= original.digests
        notes += original.notes
        for entry in original.entries:
            if entry.id in wanted:
                start = len(reworded)
                reworded += [
                    replace(entry, id=f"{FORMAT_SENSITIVITY}_{start + index}:{form}:{entry.id}")
                    for index, form in enumerate(FORMATS)
                ]
    return CategoryData(entries=reworded, digests=digests, notes=tuple(notes))


def _other_revision(name: str, found: str, known: str) -> list[Sentence]:
    if found == known:
        return []
    return [
        say(
            "{name} is not the file of bfcl-eval {version}: its sha256 begins with {found}, expected {known}. Scores may differ from official ones.",
            name=name,
            version=PACKAGE.version,
            found=found,
            known=known,
        )
    ]


def ids(folder: Path, category: str) -> list[str]:
    """Return the ids of a category, without the cost of its entries where it can be avoided."""
    if category == FORMAT_SENSITIVITY:
        return [entry.id for entry in entries(folder, category)]
    path, file = _file(folder, category), CATEGORIES[category].file
    return [row.id.replace(file, category, 1) if file else row.id for row in read_lines(path, read_bytes(path), _ids)]


def _file(folder: Path, category: str) -> Path:
    return folder / f"BFCL_v4_{CATEGORIES[category].file or category}.json"


def read_bytes(path: Path) -> bytes:
    """Return what is in a data file, or raise `BadInput`."""
    with reading(path):
        return path.read_bytes()


def sha16(data: bytes) -> str:
    """Return the first 16 digits of the sha256 of a file."""
    return hashlib.sha256(data).hexdigest()[:16]


def read_lines(path: Path, data: bytes, decoder: msgspec.json.Decoder[Any]) -> list[Any]:
    """Return the decoded lines of a data file, or raise `BadInput` that names the first bad one."""
    try:
        return decoder.decode_lines(data)
    except (msgspec.DecodeError, RecursionError) as whole:
        for number, line in enumerate(data.split(b"\n"), 1):  # slowly, to say which line it was
            if line.strip():
                try:
                    decoder.decode(line)
                except (msgspec.DecodeError, RecursionError) as error:
                    raise BadInput(
                        "{path}, line {line}: {error}.", path=path, line=number, error=in_words(error)
                    ) from None
        raise BadInput("{path}: {error}.", path=path, error=whole) from None


def check_ids(path: Path, data: bytes, category: str, questions: Sequence[HasId]) -> None:
    """Raise `BadInput` if there is no question, or one with an id that is there already or of another category."""
    if not questions:
        raise BadInput("{path} is empty.", path=path)
    seen: set[str] = set()
    for index, question in enumerate(questions):
        if question.id in seen:
            raise bad_line(path, data, index, say("the id '{id}' is there already", id=question.id))
        seen.add(question.id)
        if question.id.rpartition("_")[0] != category:
            raise bad_line(
                path, data, index, say("the id '{id}' is not of {category}", id=question.id, category=category)
            )


def _check(path: Path, data: bytes, category: str, questions: list[_Question]) -> None:
    check_ids(path, data, category, questions)
    for index, question in enumerate(questions):
        if len(question.question) != 1 or not question.question[0]:
            raise bad_line(path, data, index, say("'{id}' does not have one turn of messages", id=question.id))
        if not all(map(_is_document, question.function)):
            reason = say("a function of '{id}' lacks name, description or parameters.properties", id=question.id)
            raise bad_line(path, data, index, reason)


def _is_document(function: dict[str, object]) -> bool:
    parameters = function.get("parameters")
    properties = parameters.get("properties") if type(parameters) is dict else None
    named = type(function.get("name")) is str and type(function.get("description")) is str
    return named and type(properties) is dict and all(type(schema) is dict for schema in properties.values())


def _check_pairs(path: Path, data: bytes, questions: Sequence[HasId], answers: Sequence[HasId]) -> None:
    if [question.id for question in questions] == [answer.id for answer in answers]:
        return
    known = {answer.id for answer in answers}
    for index, question in enumerate(questions):
        if question.id not in known:
            raise BadInput("{path} has no answer for '{id}'.", path=path, id=question.id)
        if answers[index].id != question.id:
            reason = say("the answer is for '{id}', expected '{expected}'", id=answers[index].id, expected=question.id)
            raise bad_line(path, data, index, reason)
    extra = answers[len(questions)].id
    raise bad_line(path, data, len(questions), say("there is no question '{id}'", id=extra))


def bad_line(path: Path, data: bytes, index: int, reason: Sentence) -> BadInput:
    """Return the error of a line, by its index among those that are not empty."""
    numbers = [number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    return BadInput("{path}, line {line}: {error}.", path=path, line=numbers[index], error=reason)


def _unknown(name: str) -> BadInput:
    similar = near(name, [*CATEGORIES, *COLLECTIONS])
    return BadInput(
        "No category of BFCL is called '{name}'.{near} Known: {known}.",
        name=name,
        near=did_you_mean(similar),
        known=_known_names(),
    )


def _known_names() -> str:
    return ", ".join([*CATEGORIES, *COLLECTIONS])
