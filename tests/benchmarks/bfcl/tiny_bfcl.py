"""A data folder of a few samples in the official layout, with prompts beside it, for tests."""

import json
from pathlib import Path
from typing import Any

PROMPTS = """
_TEMPLATE = ("{persona}{task}|{tool_call_format}|{multiturn_behavior}|{available_tools}")
PROMPT_TEMPLATE_MAPPING = {"plaintext": _TEMPLATE}
OUTPUT_FORMAT_MAPPING = {"python": "[f(a=1)]"}
PARAM_TYPE_MAPPING = {"python": ""}
PROMPT_STYLE_TEMPLATES = {"classic": {"persona": "P", "task": "T", "tool_call_no_tag": "as {output_format}. {param_types}",
    "multiturn_behavior": "M", "available_tools": "in {format}: {functions}"}}
MADE = "not " + _TEMPLATE
"""

AREA = {
    "name": "geo.area",
    "description": "Area.",
    "parameters": {
        "type": "dict",
        "properties": {
            "base": {"type": "float", "description": "Base."},
            "unit": {"type": "string", "description": "Unit."},
        },
        "required": ["base"],
    },
}
SIMPLE = [
    {
        "question": [[{"role": "user", "content": "Area of 3?"}]],
        "function": [AREA],
        "answer": [{"geo.area": {"base": [3.0], "unit": ["cm", ""]}}],
    },
    {
        "question": [[{"role": "system", "content": "Be exact."}, {"role": "user", "content": "Area of 4 cm?"}]],
        "function": [AREA],
        "answer": [{"geo.area": {"base": [4.0], "unit": ["cm"]}}],
    },
]
IRRELEVANT = [{"question": [[{"role": "user", "content": "Sing!"}]], "function": [AREA]}]


def write_data(root: Path) -> Path:
    """An unpacked package below `root` with simple_python (2), irrelevance (1) and live_relevance (1): its data folder."""
    data = root / "bfcl_eval" / "data"
    write_category(data, "simple_python", SIMPLE)
    write_category(data, "irrelevance", IRRELEVANT)
    write_category(data, "live_relevance", IRRELEVANT, id_form="{}_{}-0-0")
    constants = root / "bfcl_eval" / "constants"
    constants.mkdir()
    (constants / "default_prompts.py").write_text(PROMPTS)
    return data


def write_category(data: Path, category: str, rows: list[dict[str, Any]], id_form: str = "{}_{}") -> None:
    (data / "possible_answer").mkdir(parents=True, exist_ok=True)
    ids = [id_form.format(category, number) for number in range(len(rows))]
    questions = [
        {"id": id, "question": row["question"], "function": row["function"]} for id, row in zip(ids, rows, strict=True)
    ]
    write_lines(data / f"BFCL_v4_{category}.json", questions)
    if "answer" in rows[0]:
        answers = [{"id": id, "ground_truth": row["answer"]} for id, row in zip(ids, rows, strict=True)]
        write_lines(data / "possible_answer" / f"BFCL_v4_{category}.json", answers)


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path
