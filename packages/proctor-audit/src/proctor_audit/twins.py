"""Make twins of the rows of a data file without a model: the same questions with other names, numbers, or orders of options.

A row has a twin only where its answer follows: options move with their letter, a name changes everywhere, and numbers change where the
question holds one expression and no other digit, so that the answer is computed again. Whoever remembers the file and not the subject
earns less on the twins.
"""

import ast
import json
import operator
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.datasets.columns import LETTERS
from proctor.datasets.rows import DataRow
from proctor.runtime.files import write_whole
from proctor_audit.opening import open_task, rows_by_id
from proctor_audit.request import TaskRequest
from proctor_audit.wording import options_of

NAMES = (
    "Alice Amy Ann Anna Betty Carol Diana Ellen Emily Emma Helen Jane Janet Julia Karen Laura Linda Lisa Lucy Maria Mary Nancy Natalia Nina Sally Sarah Sophie Susan",
    "Adam Andrew Anthony Ben Bob Brian Carlos Daniel David Eric George Greg Henry James Jim Joe John Kevin Leo Martin Mike Paul Peter Robert Sam Simon Steve Tim Tom",
    "小明 小刚 小强 小华 小军 小李 小王 小张",
    "小红 小丽 小芳 小美 小兰 小玲",
)  # a name is replaced by one of its line, so that pronouns stay right
GROUP_BY_NAME = {name: line.split() for line in NAMES for name in line.split()}
NAME = re.compile(
    rf"(?<![\w'-])(?:{'|'.join(n for n in GROUP_BY_NAME if n.isascii())})(?![\w-])|(?:{'|'.join(n for n in GROUP_BY_NAME if not n.isascii())})"
)
FULL_NAME = re.compile(
    r"\s+(?:(?:the|in|of|von|van|de)\s+)?[A-Z\d]"
)  # follows a first name: a person or work that is known
TITLE = re.compile(r"([A-Z][\w.]*)\s+$")
FIRST_WORDS = "After And As At Because Before But Can Did Does For How If In Is On Once Since So Suppose Then Today What When Where While Who Yesterday"
REFERRING = re.compile(r"\b(?:all|none|both|neither|any|either)\b.*\b(?:above|below|these|those|options?)\b|\b(?:above|below)\b|\b(?:and|or|both|only) \(?[A-H]\)?(?!\w)|以上|上述|以下|都(?:是|不|对|错)|选项", re.IGNORECASE)  # fmt: skip
EXPRESSION = re.compile(r"\d+(?:\s*[-+*/×÷]\s*\d+)+")
OPERATORS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}  # fmt: skip
MOST_DRAWS = 100
SHOWN = ("question", "context", "system", "target")  # columns whose text has the names of a row
NOT_TWINNED = ("files", "tools", "calls", "state", "scenario")


class TwinsReport(msgspec.Struct, frozen=True, kw_only=True):
    """How many rows of a file have a twin, by what was changed, and how many have none."""

    rows: int
    twins: int
    without: int
    kinds: Mapping[str, int]
    file: str


def write_twins(request: TaskRequest, folder: Path) -> TwinsReport:
    """Write the twins to a file of the same name in a folder, so that runs of both are compared sample by sample.

    Raises:
        BadInput: the file cannot be read, has no column of questions, has no row with a twin, or the new file is there already.
    """
    opened = open_task(request)
    columns = opened.task.provenance.get("columns")
    if not isinstance(columns, Mapping) or not {"question", "target"} <= columns.keys() or "prompt" in request.options:
        raise BadInput("Twins are made of a data file with columns for questions and answers, and without a template.")
    path = folder / f"{opened.task.name}.jsonl"
    if path.exists():
        raise BadInput("{path} is there already.", path=path)
    samples = {sample.id: sample for sample in opened.samples}
    rows = [(samples[id], row) for id, row in rows_by_id(request, opened.task) if id in samples]
    made = [twin for sample, row in rows if (twin := twin_of(sample, row, columns, request.seed)) is not None]
    if not made:
        raise BadInput("No row of {task} can be changed so that its answer follows.", task=opened.task.name)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, "".join(json.dumps(twin, ensure_ascii=False, default=str) + "\n" for twin in made))
    kinds = Counter(kind for twin in made for kind in twin["twin"].split("+"))
    return TwinsReport(
        rows=len(rows),
        twins=len(made),
        without=len(rows) - len(made),
        kinds=dict(sorted(kinds.items())),
        file=str(path),
    )


def twin_of(sample: Sample, row: DataRow, columns: Mapping[str, str], seed: int) -> dict[str, Any] | None:
    """Return the cells of the twin of a row; None where nothing can be changed so that the answer follows."""
    question = row.cells.get(columns["question"])
    has_more = columns["target"] not in row.cells or any(row.cell(columns.get(role, "")) for role in NOT_TWINNED)
    if not isinstance(question, str) or has_more:
        return None
    draw = random.Random(f"{seed} {sample.id}")  # noqa: S311 (no secret)
    cells = {"id": sample.id, **row.cells}
    kinds = []
    options = [*options_of(sample).values()]
    if options:
        order = _order(options, str(sample.target), draw)
        kinds += ["options"] if order != [*range(len(options))] else []
        named = [options[index] for index in order]
        cells |= (
            dict(zip(columns["options"].split(", "), named, strict=True))
            if ", " in columns["options"]
            else {columns["options"]: named}
        )
        cells[columns["target"]] = "".join(
            sorted(LETTERS[order.index(LETTERS.index(letter))] for letter in str(sample.target))
        )
    elif (changed := _other_numbers(question, cells[columns["target"]], draw)) is not None and "context" not in columns:
        cells |= {columns["question"]: changed[0], columns["target"]: changed[1]}
        kinds.append("numbers")
    names = _other_names(question, sample.target, draw)
    if names:
        shown = [columns[role] for role in SHOWN if role in columns]
        cells |= {
            name: _renamed(cells[name], names)
            for name in [*shown, *columns.get("options", "").split(", ")]
            if name in cells
        }
        kinds.append("names")
    return {**cells, "twin": "+".join(kinds)} if kinds else None


def _order(options: Sequence[str], right: str, draw: random.Random) -> list[int]:
    """Return another order of options, in which other letters are right; the same where one refers to others."""
    same = [*range(len(options))]
    indices = {LETTERS.index(letter) for letter in right}
    if any(REFERRING.search(text) for text in options) or len(indices) == len(options):
        return same
    orders = (draw.sample(same, len(same)) for _ in range(MOST_DRAWS))
    return next((order for order in orders if {order.index(index) for index in indices} != indices), same)


def _other_names(question: str, target: object, draw: random.Random) -> dict[str, str]:
    """Return another name for each first name of a story: one that occurs twice, or a count is asked for; none where a person is known."""
    matches = [*NAME.finditer(question)]
    counted = Counter(match[0] for match in matches)
    is_counted = any(map(str.isdigit, question)) and str(target).strip().isdigit()
    if not matches or any(map(_is_known, matches)) or not (is_counted or max(counted.values()) > 1):
        return {}
    free = [name for name in GROUP_BY_NAME if name not in f"{question} {target}"]
    names: dict[str, str] = {}
    for name in counted:
        others = [other for other in GROUP_BY_NAME[name] if other in free and other not in names.values()]
        if not others:
            return {}
        names[name] = draw.choice(others)
    return names


def _is_known(match: re.Match[str]) -> bool:
    """True if a first name may be that of a known person: a surname follows, or a title precedes."""
    title = TITLE.search(match.string[: match.start()])
    return FULL_NAME.match(match.string[match.end() :]) is not None or (
        title is not None and title[1] not in FIRST_WORDS.split()
    )


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return NAME.sub(lambda match: names.get(match[0], match[0]), value)
    return [_renamed(each, names) for each in value] if isinstance(value, list) else value


def _other_numbers(question: str, target: object, draw: random.Random) -> tuple[str, Any] | None:
    """Return a question with other numbers in its only expression and the new answer, of the same kind as the old one."""
    found = EXPRESSION.findall(question)
    if len(found) != 1 or any(map(str.isdigit, question.replace(found[0], ""))):
        return None
    value = _value_of(found[0])
    if value is None or not isinstance(target, int | str) or str(value) != str(target).strip():
        return None
    for _ in range(MOST_DRAWS):
        written = re.sub(
            r"\d+",
            lambda match: str(draw.randint(max(2, 10 ** (len(match[0]) - 1)), 10 ** len(match[0]) - 1)),
            found[0],
        )
        other = _value_of(written)
        if other is not None and other != value and other.denominator == 1 and (other < 0) == (value < 0):
            return question.replace(found[0], written), type(target)(int(other))
    return None


def _value_of(text: str) -> Fraction | None:
    """Return what an expression of numbers and four operators is, computed exactly.

    >>> _value_of("12 × 3 + 4"), _value_of("1/0")
    (Fraction(40, 1), None)
    """
    try:
        return _computed(ast.parse(text.replace("×", "*").replace("÷", "/"), mode="eval").body)
    except (SyntaxError, ZeroDivisionError, ValueError):  # 007 is no number
        return None


def _computed(node: ast.expr) -> Fraction:
    match node:
        case ast.BinOp(left=left, op=sign, right=right):
            return OPERATORS[type(sign)](_computed(left), _computed(right))
        case ast.Constant(value=int(value)):
            return Fraction(value)
    raise ValueError(node)
