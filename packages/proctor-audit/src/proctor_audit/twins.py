"""Make twins of the rows of a data file without a model: the same questions with other names, numbers, or orders of options.

A row has a twin only where its answer follows: options move with their letter, a name changes everywhere, and numbers change where the
question asks for the value of one expression in plain words, so that the answer is computed again. Whoever remembers the file and not the subject
earns less on the twins.
"""

import ast
import json
import operator
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    rf"\s+(?:(?:(?:the|in|of|von|van|de)\s+)?[A-Z\d]|(?:and|&)\s+(?!(?:{'|'.join(filter(str.isascii, GROUP_BY_NAME))})\b)[A-Z])"
)  # follows a first name: a person, pair or work that is known
TITLE = re.compile(r"([A-Z][\w.]*)\s+$")
FIRST_WORDS = "After And As At Because Before But Can Did Does For How If In Is On Once Since So Suppose Then Today What When Where While Who Yesterday"
OTHER_WORD = re.compile(rf"[大最弱较缩减细](?:{'|'.join(n for n in GROUP_BY_NAME if not n.isascii())})|(?:{'|'.join(n for n in GROUP_BY_NAME if not n.isascii())})[子书帽花旗豆薯包国队舰星度人女飞州]")  # fmt: skip
SPELT = re.compile(r"\b(?:letters?|spel\w+|alphabet\w*|syllables?|vowels?|consonants?|initials?|rhym\w+|palindrom\w*|anagram\w*|names?|strings?|characters?|len)\b|['\"“‘`](?:[A-Z][a-z]+)['\"”’`]|名字|姓|字|拼音|笔画|押韵", re.IGNORECASE)  # fmt: skip
LETTER_PAIR = r"(?<![A-Za-z])[A-H]\s*(?:[&/,+、，]|和|与|及|或)\s*[A-H](?![A-Za-z])|^[A-H]{2,}$"
REFERRING = re.compile(rf"\b(?:all|none|both|neither|any|either)\b.*\b(?:above|below|these|those|options?)\b|\b(?:above|below|previous|preceding|former|latter|first (?:two|three)|last (?:two|three))\b|\b(?:and|or|both|only) \(?[A-H]\)?(?!\w)|(?-i:{LETTER_PAIR})|以上|上述|以下|[上下]面|前述|前[两二三]|都(?:是|不|对|错)|选项", re.IGNORECASE)  # fmt: skip
# in a question
LETTERED = re.compile(r"(?:^|[\s(（])[A-H][.)）、:：]|\b(?:options?|choices?|answers?) \(?[A-H]\b|选项\s*[A-H]")
PLAIN = re.compile(r"(?:[\s?？.。,，:：=()（）]|'s\b|\b(?:how|much|many|what|is|are|the|value|result|sum|difference|product|quotient|answer|of|to|for|compute|calculate|evaluate|work|out|find|solve|please|give|with|only|just|a|number|me|tell|does|do|equals?|make|get|you)\b|[计算求多少等于是几的值结果请问答案和差积商得出一下])*", re.IGNORECASE)  # fmt: skip
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
    option_columns = columns.get("options", "").split(", ")
    cells, kinds = {"id": sample.id, **row.cells}, []
    if options_of(sample):
        reordered = None if LETTERED.search(question) else _other_options(sample, row, option_columns, draw)
        if reordered is not None:
            cells |= {**reordered[0], columns["target"]: reordered[1]}
            kinds.append("options")
    elif (changed := _other_numbers(question, cells[columns["target"]], draw)) is not None and "context" not in columns:
        cells |= {columns["question"]: changed[0], columns["target"]: changed[1]}
        kinds.append("numbers")
    shown = [name for name in (*(columns.get(role) for role in SHOWN), *option_columns) if name in cells]
    texts = " | ".join(text for name in shown for text in _texts_of(row.cells.get(name)))
    names = _other_names(question, texts, sample.target, draw)
    if names:
        cells |= {name: _renamed(cells[name], names) for name in shown}
        kinds.append("names")
    return {**cells, "twin": "+".join(kinds)} if kinds else None


def _other_options(
    sample: Sample, row: DataRow, columns: Sequence[str], draw: random.Random
) -> tuple[dict[str, Any], str] | None:
    """Return the cells of options in another order, and the letters that are right there; None where one refers to others."""
    options, right = [*options_of(sample).values()], str(sample.target)
    order = _order(options, right, draw)
    filled = [name for name in columns if row.cell(name)] if len(columns) > 1 else columns
    if order == [*range(len(options))] or (len(columns) > 1 and len(filled) != len(options)):
        return None
    texts = [options[index] for index in order]
    cells: dict[str, Any] = dict(zip(filled, texts, strict=True)) if len(columns) > 1 else {columns[0]: texts}
    return cells, "".join(sorted(LETTERS[order.index(LETTERS.index(letter))] for letter in right))


def _order(options: Sequence[str], right: str, draw: random.Random) -> list[int]:
    """Return another order of options, in which other letters are right; the same where one refers to others."""
    same = [*range(len(options))]
    indices = {LETTERS.index(letter) for letter in right}
    if any(REFERRING.search(text) for text in options) or len(indices) == len(options):
        return same
    orders = (draw.sample(same, len(same)) for _ in range(MOST_DRAWS))
    return next((order for order in orders if {order.index(index) for index in indices} != indices), same)


def _other_names(question: str, texts: str, target: object, draw: random.Random) -> dict[str, str]:
    """Return another name for each first name of a story: one that occurs twice, or a count is asked for.

    None where a person may be known, a name may be part of another word, or its letters matter, in any of the texts of the row.
    """
    counted = Counter(match[0] for match in NAME.finditer(question))
    is_counted = any(map(str.isdigit, question)) and str(target).strip().isdigit()
    if not is_counted and max(counted.values(), default=0) < 2:
        return {}
    if SPELT.search(question) or OTHER_WORD.search(texts):
        return {}
    matches = [match for match in NAME.finditer(texts) if match[0] in counted]
    written = Counter(match[0] for match in matches)
    if any(map(_is_known, matches)) or any(_count_of(name, texts) > written[name] for name in counted):
        return {}
    free = [name for name in GROUP_BY_NAME if name.casefold() not in texts.casefold()]
    names: dict[str, str] = {}
    for name in counted:
        others = [other for other in GROUP_BY_NAME[name] if other in free and other not in names.values()]
        if not others:
            return {}
        names[name] = draw.choice(others)
    return names


def _count_of(name: str, texts: str) -> int:
    """Return how often a name occurs as a word, in capitals or small letters too."""
    return len(re.findall(rf"(?<![a-z]){name}(?![a-z])", texts, re.IGNORECASE))


def _is_known(match: re.Match[str]) -> bool:
    """True if a first name may be that of a known person: a surname follows, or a title precedes."""
    title = TITLE.search(match.string[: match.start()])
    has_title = title is not None and title[1] not in FIRST_WORDS.split()
    return has_title or FULL_NAME.match(match.string[match.end() :]) is not None


def _texts_of(value: object) -> Iterator[str]:
    """Yield the texts in a cell, as they are renamed."""
    match value:
        case str():
            yield value
        case list():
            yield from (text for each in value for text in _texts_of(each))
        case Mapping():
            yield from (text for each in (*value, *value.values()) for text in _texts_of(each))


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return NAME.sub(lambda match: names.get(match[0], match[0]), value)
    if isinstance(value, Mapping):
        return {_renamed(key, names): _renamed(each, names) for key, each in value.items()}
    return [_renamed(each, names) for each in value] if isinstance(value, list) else value


def _other_numbers(question: str, target: object, draw: random.Random) -> tuple[str, Any] | None:
    """Return a question with other numbers in its only expression and the new answer; None where it may ask for more than the value."""
    expressions = EXPRESSION.findall(question)
    if len(expressions) != 1 or PLAIN.fullmatch(question.replace(expressions[0], " ", 1)) is None:
        return None
    value = _value_of(expressions[0])
    if value is None or not isinstance(target, int | str) or str(value) != str(target).strip():
        return None

    def another(match: re.Match[str]) -> str:
        digits = len(match[0])
        return str(draw.randint(max(2, 10 ** (digits - 1)), 10**digits - 1))

    for _ in range(MOST_DRAWS):
        written = re.sub(r"\d+", another, expressions[0])
        other = _value_of(written)
        if other is not None and other != value and other.denominator == 1 and (other < 0) == (value < 0):
            return question.replace(expressions[0], written), type(target)(int(other))
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
