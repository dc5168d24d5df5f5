"""The official data: where the files are, and the samples of the eight parts.

A clone of the repository at v0.2 (Apache 2.0) holds the questions of five parts; the card game needs none, ALFWorld names games
of a separate download, WebShop and Mind2Web have theirs elsewhere. An entry of `data/dbbench/dev.jsonl`:

    {"description": "Which year …?", "label": ["1998"], "type": ["other"], "add_description": "The name of this table is …",
     "table": {"table_name": "Games", "table_info": {"columns": [{"name": "Year", "type": "TEXT"}], "rows": [["1998"]]}}}

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7; `configs/tasks` says which files are which task.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from proctor.config import check_choice
from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject, Sample
from proctor.core.sentence import Sentence, say
from proctor.datasets.formats import READERS, FileReading
from proctor.runtime.json_file import read_json, read_json_lines
from proctor_benchmarks.agentbench.db_answer import CHANGING
from proctor_benchmarks.agentbench.official import PARTS, TASKS, Part

COMMIT = "41e6807349f7"
LICENCE = "Apache 2.0"
VARIABLE = "PROCTOR_AGENTBENCH_DATA"
Split = Literal["dev", "std"]
WEBSHOP_GOALS: Mapping[Split, range] = {"dev": range(200, 280), "std": range(200)}
CARD_GAMES: Mapping[Split, int] = {"dev": 3, "std": 5}
BASELINES = ("baseline1", "baseline2")
DIGESTS = {  # the first 16 digits of the sha256 at the commit
    "data/dbbench/dev.jsonl": "eb941c58a7a56513",
    "data/dbbench/standard.jsonl": "d1ac4d67ec39fad0",
    "data/knowledgegraph/dev.json": "5e28f8504ef98c51",
    "data/knowledgegraph/std.json": "1265d4e35602b126",
    "data/lateralthinkingpuzzle/dev.xlsx": "6cc6fdb088680ea4",
    "data/lateralthinkingpuzzle/standard.xlsx": "592abbe55828bca4",
    "data/alfworld/dev.json": "20b8f28be96aa2c0",
    "data/alfworld/standard.json": "4c576333113019a6",
}
_FILES: Mapping[Part, Mapping[Split, str]] = {
    "db": {"dev": "data/dbbench/dev.jsonl", "std": "data/dbbench/standard.jsonl"},
    "kg": {"dev": "data/knowledgegraph/dev.json", "std": "data/knowledgegraph/std.json"},
    "puzzles": {"dev": "data/lateralthinkingpuzzle/dev.xlsx", "std": "data/lateralthinkingpuzzle/standard.xlsx"},
    "alfworld": {"dev": "data/alfworld/dev.json", "std": "data/alfworld/standard.json"},
}
_OS_FOLDER = "data/os_interaction"
_OS_GROUPS = 7
_MIND2WEB_LINE = '{"element": ["16221"], "action": "TYPE new york"}'


class Mind2WebTarget(msgspec.Struct, frozen=True, kw_only=True):
    """What a step of Mind2Web expects; officially no element at all where none is among the best candidates."""

    element: tuple[str, ...] | None
    action: str = ""


def parts_of(category: str | Sequence[str] | None, mind2web: str | None = None) -> list[Part]:
    """Return the parts that are named: one, several with commas, or all, of which `mind2web` is one where its targets are given.

    Raises:
        BadInput: an unknown part.

    >>> parts_of("kg, db"), len(parts_of(None)), len(parts_of(None, "targets.jsonl"))
    (['db', 'kg'], 7, 8)
    """
    all_parts = PARTS if mind2web is not None else PARTS[:-1]
    named = [category] if isinstance(category, str) else category or all_parts
    wanted = {name.strip() for part in named for name in part.split(",") if name.strip()}
    for name in sorted(wanted):
        check_choice("agentbench", "part", name, PARTS)
    return [part for part in PARTS if part in wanted]


def locate(source: str | Path | None = None) -> Path:
    """Return the folder of a clone of the repository at v0.2; that of `PROCTOR_AGENTBENCH_DATA` when None.

    Raises:
        BadInput: nothing of the kind is there, or nobody named it.
    """
    source = source or os.environ.get(VARIABLE) or None
    if source is None:
        raise BadInput(
            "AgentBench needs a clone of the official repository: git clone --branch v0.2 https://github.com/THUDM/AgentBench, then --set data=DIR, or {variable}=DIR.",
            variable=VARIABLE,
        )
    path = Path(source).expanduser().absolute()
    if not (path / "data/dbbench").is_dir() or not (path / "src/server/tasks").is_dir():
        raise BadInput("{path} is no clone of AgentBench: expected data/dbbench and src/server/tasks in it.", path=path)
    return path


def samples(root: Path, part: Part, split: Split, mind2web: str | None = None) -> list[Sample]:
    """Return the samples of a part; their turns are made by the loop that plays them.

    Args:
        mind2web: the file with the targets of Mind2Web, which is needed for that part.

    Raises:
        BadInput: a file that is not there, or has another layout.
    """
    try:
        return list(_mind2web(mind2web, split) if part == "mind2web" else _READERS[part](root, split))
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise BadInput("The data of '{part}' in {path} have another layout ({type}: {error}). Is it v0.2?", part=part, path=root, type=type(error).__name__, error=error) from error  # fmt: skip


def digests(root: Path, parts: Sequence[Part], split: Split) -> tuple[dict[str, str], list[Sentence]]:
    """Return the digests of the files of some parts, and a note for each that is not the pinned one."""
    names = [_FILES[part][split] for part in parts if part in _FILES]
    digests = {name: hashlib.sha256((root / name).read_bytes()).hexdigest()[:16] for name in names}
    return digests, [
        say("{file} is not that of the pinned commit of AgentBench.", file=name)
        for name, digest in digests.items()
        if digest != DIGESTS[name]
    ]


def _sample(part: Part, split: Split, index: int | str, item: object, **more: Any) -> Sample:
    tags = {"part": part, "split": split, **more.pop("tags", {})}
    return Sample(
        id=f"{part}/{index}",
        turns=(),
        tags=tags,
        meta={"task": f"{TASKS[part]}-{split}", "index": index, "item": item},
        **more,
    )


def _db(root: Path, split: Split) -> Iterator[Sample]:
    entries = [entry for _, entry in read_json_lines(root / _FILES["db"][split], dict)]
    for index, entry in enumerate(entries):
        kind = entry["type"][0]
        target = entry["answer_md5"] if kind in CHANGING else entry["label"]
        names = ("description", "add_description", "table", "type", "sql", "label")
        item = {name: entry[name] for name in names if name in entry}
        yield _sample("db", split, index, item, target=target, tags={"type": kind})


def _os(root: Path, split: Split) -> Iterator[Sample]:
    folder = root / _OS_FOLDER
    if split == "dev":
        groups = [("dev-001-", [folder / "data/dev.json"], folder / "scripts/dev")]
    else:
        groups = [
            (f"std-{number:03}-", sorted((folder / "data" / str(number)).glob("*.json")), folder / "scripts" / str(number))
            for number in range(1, _OS_GROUPS + 1)
        ]  # fmt: skip
    for prefix, paths, scripts in groups:
        for path in paths:
            entries = read_json(path)
            for number, entry in enumerate([entries] if isinstance(entries, dict) else entries):
                problem = _problem(entry, scripts)
                kind = "match" if problem["match"] is not None else "check"
                index = f"{prefix}{path.stem}-{number:05}"
                yield _sample("os", split, index, problem, tags={"evaluation": kind})


def _problem(entry: JsonObject, scripts: Path) -> dict[str, object]:
    """Return a problem with the texts of its scripts, each as `[language, text]`; a null among the checks is the example."""
    evaluation, create = entry["evaluation"], entry.get("create")
    create = create if isinstance(create, dict) else {}  # some have an empty list
    match, check, example = evaluation.get("match"), None, None
    if match is None:
        given = evaluation["check"]
        check = [_script(script, scripts) for script in (given if isinstance(given, list) else [given])]
        example = _script(evaluation.get("example"), scripts)
    initial = create.get("init", [])
    return {
        "description": entry["description"],
        "image": create.get("image", "local-os/default"),
        "init": [_script(script, scripts) for script in (initial if isinstance(initial, list) else [initial])],
        "start": _script(entry.get("start"), scripts),
        "match": {"answer": match, "strip": True} if isinstance(match, str) else match,
        "check": check,
        "example": example,
    }


def _script(given: Any, folder: Path) -> list[str] | None:
    if given is None or isinstance(given, str):
        return None if given is None else ["bash", given]
    language = given.get("language", "bash")
    if "file" not in given:
        return [language, given["code"]]
    path = folder / given["file"]
    try:
        return [language, path.read_text("utf-8")]
    except (OSError, ValueError) as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from None


def _kg(root: Path, split: Split) -> Iterator[Sample]:
    for index, entry in enumerate(read_json(root / _FILES["kg"][split])):
        answers = sorted({answer["answer_argument"] for answer in entry["answer"]})
        item = {name: entry[name] for name in ("question", "entities", "actions", "source")}
        yield _sample("kg", split, index, item, target=answers, tags={"source": entry["source"]})


def _cards(_: Path, split: Split) -> Iterator[Sample]:
    games = [(base, seat) for base in BASELINES for seat in (0, 1) for _time in range(CARD_GAMES[split])]
    for index, (base, seat) in enumerate(games):
        yield _sample(
            "cards", split, index, {"stage": 2, "base": base, "agent": seat}, tags={"base": base, "seat": str(seat)}
        )


def _puzzles(root: Path, split: Split) -> Iterator[Sample]:
    for index, (_, row) in enumerate(READERS[".xlsx"](root / _FILES["puzzles"][split], FileReading())):
        story, truth, story_key, answer_key = (str(value).strip() for value in list(row.values())[:4])
        item = {"story": story, "truth": truth, "story_key": story_key, "answer_key": answer_key}
        yield _sample("puzzles", split, index, item, target=truth)


def _alfworld(root: Path, split: Split) -> Iterator[Sample]:
    groups = read_json(root / _FILES["alfworld"][split])
    games = [(kind, path) for kind, paths in groups.items() for path in paths]
    for index, (kind, path) in enumerate(games):
        yield _sample("alfworld", split, index, {"game": path, "type": kind}, tags={"type": kind})


def _webshop(_: Path, split: Split) -> Iterator[Sample]:
    for index in WEBSHOP_GOALS[split]:
        yield _sample("webshop", split, index, {"goal": index})


def _mind2web(path: str | None, split: Split) -> Iterator[Sample]:
    if path is None:
        raise BadInput("The targets of mind2web are in no clone: --set mind2web=FILE, with a line such as {line} for each step.", line=_MIND2WEB_LINE)  # fmt: skip
    for index, (_, target) in enumerate(read_json_lines(Path(path).expanduser(), Mind2WebTarget)):
        expected = None if target.element is None else {"element": list(target.element), "action": target.action}
        yield _sample("mind2web", split, index, None, target=expected)


_READERS: Mapping[Part, Callable[[Path, Split], Iterator[Sample]]] = {
    "os": _os,
    "db": _db,
    "kg": _kg,
    "cards": _cards,
    "puzzles": _puzzles,
    "alfworld": _alfworld,
    "webshop": _webshop,
}
