"""A small data set in MULTI's layout, made for one test."""

import json
from pathlib import Path
from typing import Any

from proctor.core.sample import Sample
from proctor.core.task import Task

ONE_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c6360000000020001e221bc330000000049454e44ae426082"
)


def problem(
    *, contents: list[str], types: list[str], answers: list[str | None] | None = None, **more: Any
) -> dict[str, Any]:
    base: dict[str, Any] = {
        "subject": ["初中数学"],
        "education": "初中",
        "problem_content": "题干",
        "problem_content_list": contents,
        "problem_type_list": types,
        "knowledge": [],
        "img_paths": [],
    }
    if answers is not None:
        base["problem_answer_list"] = answers
        base["problem_analysis_list"] = [""] * len(answers)
    return {**base, **more}


def folder(root: Path, problems: Any, **files: Any) -> Path:
    """A data folder; `knowledge` and `captions` become files, `images` are made."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "problem_v1.json").write_text(json.dumps(problems, ensure_ascii=False), encoding="utf-8")
    if "knowledge" in files:
        (root / "knowledge_v1.json").write_text(json.dumps(files["knowledge"], ensure_ascii=False), encoding="utf-8")
    if "captions" in files:
        (root / "captions_v1.csv").write_text(files["captions"], encoding="utf-8")
    for name in files.get("images", ()):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(ONE_PIXEL)
    return root


def samples(task: Task) -> list[Sample]:
    assert not callable(task.samples)
    return list(task.samples)
