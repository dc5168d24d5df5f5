"""A small clone of AgentBench in its own layout, with questions of ours, or with parts of the official sources (Apache 2.0)."""

import gzip
import json
from pathlib import Path
from typing import Any

PROMPT = "\nAsk with SQL, then answer.\n"


def entry(kind: str, question: str, **more: Any) -> dict[str, Any]:
    """Return an entry of the database part, on a table of three cities."""
    columns = [{"name": "City", "type": "TEXT"}, {"name": "People", "type": "TEXT"}]
    rows = [["Lyon", "520"], ["Nîmes", "148"], ["O'Fallon", "91"]]
    return {
        "description": question,
        "add_description": "The name of this table is Cities of note, and the headers of this table are City,People.",
        "table": {"table_name": "Cities of note", "table_info": {"columns": columns, "rows": rows}},
        "type": [kind],
        "label": [],
        **more,
    }


ENTRIES = [
    entry("counting", "How many cities are there?", label=["3"], sql={"query": "SELECT COUNT(*) FROM `Cities of note`"}),
    entry("other", "Which are the cities above 100?", label=["Nîmes", "Lyon"]),
    entry("INSERT", "Add Metz with 121.", answer_md5="[('?',)]", label=["INSERT INTO `Cities of note` (City, People) VALUES ('Metz', '121')"]),
    entry("UPDATE", "Set Lyon to 521.", answer_md5="[('?',)]", label=["UPDATE `Cities of note` SET People = '521' WHERE City = 'Lyon'"]),
]  # fmt: skip


def write(folder: Path, entries: list[dict[str, Any]] = ENTRIES) -> Path:
    """Write a clone, with the same questions in both splits."""
    import openpyxl

    for name in ("dev", "standard"):
        _write(folder / f"data/dbbench/{name}.jsonl", "".join(json.dumps(one) + "\n" for one in entries))
        games = {
            "pick_and_place": ["json_2.1.1/valid/a/game.tw-pddl"],
            "look_at_obj": ["json_2.1.1/valid/b/game.tw-pddl"],
        }
        _write(folder / f"data/alfworld/{name}.json", json.dumps(games))
        book = openpyxl.Workbook()
        assert book.active is not None
        book.active.append(["story", "answer", "story_key", "answer_key"])
        book.active.append(
            ["A man jumps. ", "He thought he was blind.", "1. He jumps.", "1. He was blind.\n2. It was a tunnel."]
        )
        path = folder / f"data/lateralthinkingpuzzle/{name}.xlsx"
        path.parent.mkdir(parents=True, exist_ok=True)
        book.save(path)
    for name in ("dev", "std"):
        answers = [
            {"answer_type": "Entity", "answer_argument": "m.1"},
            {"answer_type": "Entity", "answer_argument": "m.2"},
        ]
        question = {
            "question": "Who?",
            "entities": {"Ada": "m.0"},
            "actions": [],
            "source": "grailqa",
            "answer": answers,
        }
        _write(folder / f"data/knowledgegraph/{name}.json", json.dumps([question]))
    problem = {
        "description": "How many files are there?",
        "create": {"init": {"file": "init.sh"}, "local": "default"},
        "evaluation": {"check": [None, {"language": "python", "code": "exit(0)"}], "example": {"code": "ls | wc -l"}},
    }
    plain = {"description": "Say 1.", "create": [], "start": "true", "evaluation": {"match": "1"}}
    system = folder / "data/os_interaction"
    _write(system / "data/dev.json", json.dumps([problem, plain]))
    _write(system / "scripts/dev/init.sh", "touch a b")
    for number in range(1, 8):
        _write(system / f"data/{number}/new.json", json.dumps(plain))
    _write(folder / "src/server/tasks/dbbench/__init__.py", f"import json\n\nbig_prompt = {PROMPT!r}\n")
    return folder


def write_sources(folder: Path) -> Path:
    """Write the official prompts too, and the questions and relations of the recorded walks over a knowledge base."""
    data = Path(__file__).parents[1] / "data/agentbench/sources.json.gz"
    for name, text in json.loads(gzip.decompress(data.read_bytes())).items():
        _write(folder / name, text)
    return folder


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
