"""Read the options of a question, show them below it, and find out which of them the answer names.

Answers are written as letters, as the text of an option, or as its number, counted from 0 (MMLU, HellaSwag) or
from 1. One way has to fit every row of the file; where two ways fit and say different things, the user decides.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor.datasets.columns import LETTERS
from proctor.datasets.formats import is_empty

LABEL = re.compile(r"\s*[(（\[【]?([A-Za-z])(?:[)）\]】]|[.、:：．])\s*")
NUMBER = re.compile(r"[0-9]{1,3}")
TEXTS = ("text", "texts", "choices", "options")
LABELS = ("label", "labels", "key", "keys")

Style = Literal["named", "letter", "text", "index0", "index1"]
STYLES: tuple[Style, ...] = get_args(Style)  # `named` is a letter or a text, whichever fits
TRIED: tuple[Style, ...] = ("named", "index0", "index1")


class RowOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a row: their texts, their labels if these are not A, B, C, and which are marked right."""

    texts: tuple[str, ...]
    labels: tuple[str, ...] = ()
    right: tuple[int, ...] = ()


class OptionsRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row with options and an answer."""

    where: Sentence
    choices: RowOptions
    answer: Any


def choices_of(value: object, where: Sentence, column: str) -> RowOptions | None:
    """Read options; None for an empty cell.

    They may be a list, an object by letter, `{"text": […], "label": […]}`, `{"choices": […], "labels": [1, 0, …]}`
    with a 1 at each right one, a list of objects with text and label, or text such as `A. x|B. y` or a line for each.

    Raises:
        BadInput: fewer than two, more than 26, one that is empty, or labels that are not A, B, C …
    """
    if is_empty(value) or value == []:
        return None
    choices = _read(value, where, column)
    texts, labels = choices.texts, [LABEL.match(text) for text in choices.texts]
    if not choices.labels and all(labels):
        found = "".join(label[1].upper() for label in labels if label)
        if found != LETTERS[: len(texts)]:
            raise BadInput(
                "{where}: the options in '{column}' are labelled {labels}; they must be A, B, C … in order.",
                where=where,
                column=column,
                labels=", ".join(found[:30]),
            )
        texts = tuple(text[label.end() :] for text, label in zip(texts, labels, strict=True) if label)
    texts = tuple(text.strip() for text in texts)
    if not 2 <= len(texts) <= len(LETTERS) or not all(texts):
        raise BadInput(
            "{where}: '{column}' holds {count} options; 2 to 26 are needed, and none may be empty. A text is split at | or at line breaks.",
            where=where,
            column=column,
            count=len(texts),
        )
    return msgspec.structs.replace(choices, texts=texts)


def with_options(question: str, options: Sequence[str]) -> str:
    """Write the options below the question.

    >>> print(with_options("Which?", ["red", "blue"]))
    Which?
    A. red
    B. blue
    """
    return "\n".join([question, *(f"{letter}. {text}" for letter, text in zip(LETTERS, options, strict=False))])


def style_of(asked: Iterable[OptionsRow], column: str) -> Style:
    """Find the one way in which all answers of a column name their options.

    Raises:
        BadInput: none fits every row, or two fit and say different things.
    """
    failed: dict[Style, OptionsRow] = {}
    differing: OptionsRow | None = None
    for row in asked:
        found = {style: named_options(row.answer, row.choices, style) for style in TRIED if style not in failed}
        failed |= dict.fromkeys((style for style, chosen in found.items() if not chosen), row)
        if differing is None and len({chosen for chosen in found.values() if chosen}) > 1:
            differing = row
        if len(failed) == len(TRIED):
            _refuse(failed["named"], column)
    fitting: list[Style] = [style for style in TRIED if style not in failed]
    if len(fitting) > 1 and differing is not None:
        raise BadInput(
            "{where}: the answers in '{column}' fit more than one reading: {styles}. Say which: --set answers=index0 (numbers that count from 0), index1, letter or text.",
            where=differing.where,
            column=column,
            styles=", ".join(fitting),
        )
    return fitting[0]


def as_letters(answer: object, choices: RowOptions, style: Style, where: Sentence, column: str) -> str:
    """Return the right options as letters.

    Raises:
        BadInput: the answer does not name options in this style.
    """
    chosen = named_options(answer, choices, style)
    if not chosen:
        _refuse(OptionsRow(where=where, choices=choices, answer=answer), column)
    return "".join(LETTERS[index] for index in sorted(chosen))


def named_options(answer: object, choices: RowOptions, style: Style) -> frozenset[int]:
    """Return the indexes of the options that an answer names; empty if it names none, or is ambiguous.

    >>> red = RowOptions(texts=("red", "blue"))
    >>> sorted(named_options("B", red, "named")), sorted(named_options("blue", red, "named")), sorted(named_options(1, red, "index0"))
    ([1], [1], [1])
    """
    numbers: set[int] = set()
    for part in answer if isinstance(answer, list) else [answer]:
        indexes = _by_number(part, choices, style) if style in ("index0", "index1") else _by_name(part, choices, style)
        if not indexes:
            return frozenset()
        numbers |= indexes
    return frozenset(numbers)


def _by_number(answer: object, choices: RowOptions, style: Style) -> set[int]:
    text = str(answer).strip()
    if isinstance(answer, bool) or choices.labels or not NUMBER.fullmatch(text):
        return set()
    index = int(text) - (style == "index1")
    return {index} if 0 <= index < len(choices.texts) else set()


def _by_name(answer: object, choices: RowOptions, style: Style) -> set[int]:
    text = str(answer).strip()
    by_text = {index for index, option in enumerate(choices.texts) if option == text} if style != "letter" else set()
    by_label = _by_label(text, choices) if style != "text" else set()
    if by_text and by_label and by_text != by_label:
        return set()
    return by_text or by_label


def _by_label(text: str, choices: RowOptions) -> set[int]:
    """Return the options of `B`, `A, C`, `B. blue`, or of the row's own labels."""
    labels = choices.labels or tuple(LETTERS[: len(choices.texts)])
    if text in labels:
        return {labels.index(text)}
    label = LABEL.match(text)
    if label and label[1].upper() in labels:
        index = labels.index(label[1].upper())
        return {index} if text[label.end() :].strip() == choices.texts[index] else set()
    bare = re.sub(r"[\s,，、;；|]", "", text).upper()
    return {labels.index(letter) for letter in bare} if bare and set(bare) <= set(labels) else set()


def _refuse(asked: OptionsRow, column: str) -> None:
    raise BadInput(
        "{where}: the answer '{answer}' in '{column}' is neither a letter up to {last} nor the text of an option, or it is both, of different options.",
        where=asked.where,
        answer=str(asked.answer)[:100],
        column=column,
        last=LETTERS[len(asked.choices.texts) - 1],
    )


def _read(value: object, where: Sentence, column: str) -> RowOptions:
    if isinstance(value, str):
        text = value.strip()
        if text[:1] in ("[", "{"):
            value = _decode(text)
        if isinstance(value, str):
            return RowOptions(texts=tuple(text.split("|") if "|" in text else text.splitlines()))
    if isinstance(value, Mapping):
        return _of_object(value, where, column)
    if isinstance(value, list):
        if value and all(isinstance(item, Mapping) for item in value):
            return _of_object({key: [item.get(key) for item in value] for key in (*TEXTS, *LABELS) if key in value[0]}, where, column)  # fmt: skip
        return RowOptions(texts=tuple(str(item) for item in value))
    raise BadInput("{where}: '{column}' holds no options: a list or a text is needed.", where=where, column=column)


def _of_object(value: Mapping[str, Any], where: Sentence, column: str) -> RowOptions:
    """Read the options of `{"A": "red", …}`, or of an object with a list of texts and a list of labels."""
    texts = next((value[key] for key in TEXTS if isinstance(value.get(key), list)), None)
    labels = next((value[key] for key in LABELS if isinstance(value.get(key), list)), None)
    if texts is None and any(isinstance(item, list | Mapping) for item in value.values()):
        raise BadInput("{where}: '{column}' holds no options: a list or a text is needed.", where=where, column=column)
    if texts is None:
        return RowOptions(texts=tuple(f"{key}. {entry}" for key, entry in value.items()))
    if labels is None:
        return RowOptions(texts=tuple(str(text) for text in texts))
    if len(labels) != len(texts):
        raise BadInput("{where}: '{column}' holds {count} options, but {labels} labels.", where=where, column=column, count=len(texts), labels=len(labels))  # fmt: skip
    named = tuple(str(text) for text in texts)
    if labels and all(label in (0, 1) for label in labels) and 1 in labels:
        return RowOptions(texts=named, right=tuple(index for index, label in enumerate(labels) if label == 1))
    return RowOptions(texts=named, labels=tuple(str(label).strip().upper() for label in labels))


def _decode(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
