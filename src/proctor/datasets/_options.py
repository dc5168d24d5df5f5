"""The options of a question: read from a cell, shown below the question, and the answer as letters."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor.datasets._columns import LETTERS
from proctor.datasets._rows import is_empty

LABEL = re.compile(r"\s*[(（\[【]?([A-Za-z])(?:[)）\]】]|[.、:：．])\s*")


def options_of(value: Any, where: Sentence, column: str) -> tuple[str, ...]:
    """The texts of the options, in order: a list, an object by letter, or text such as `A. x|B. y` or a line for each.

    Raises:
        BadInput: fewer than two, more than 26, one that is empty, or labels that are not A, B, C …
    """
    if is_empty(value):
        return ()
    texts = _texts(value, where, column)
    labels = [LABEL.match(text) for text in texts]
    if all(labels):
        found = "".join(label[1].upper() for label in labels if label)
        if found != LETTERS[: len(texts)]:
            raise BadInput(
                "{where}: the options in '{column}' are labelled {labels}; they must be A, B, C … in order.",
                where=where,
                column=column,
                labels=", ".join(found[:30]),
            )
        texts = [text[label.end() :] for text, label in zip(texts, labels, strict=True) if label]
    texts = [text.strip() for text in texts]
    if not 2 <= len(texts) <= len(LETTERS) or not all(texts):
        raise BadInput(
            "{where}: '{column}' holds {count} options; 2 to 26 are needed, and none may be empty. A text is split at | or at line breaks.",
            where=where,
            column=column,
            count=len(texts),
        )
    return tuple(texts)


def with_options(question: str, options: Sequence[str]) -> str:
    """The question with its options below it.

    >>> print(with_options("Which?", ["red", "blue"]))
    Which?
    A. red
    B. blue
    """
    return "\n".join([question, *(f"{letter}. {text}" for letter, text in zip(LETTERS, options, strict=False))])


def as_letters(target: Any, options: Sequence[str], where: Sentence, column: str) -> str:
    """The right options as letters; the answer may be letters, or the texts of options.

    Raises:
        BadInput: it is neither. A number is not taken for a place: whether it counts from 0 or 1 cannot be seen.
    """
    known = LETTERS[: len(options)]
    parts = target if isinstance(target, list) else [target]
    found = []
    for part in parts:
        text = str(part).strip()
        bare = re.sub(r"[\s,，、;；|]", "", text).upper()
        label = LABEL.match(text)
        if text in options:
            found.append(known[options.index(text)])
        elif bare and set(bare) <= set(known):
            found.extend(bare)
        elif (
            label
            and label[1].upper() in known
            and text[label.end() :].strip() == options[known.index(label[1].upper())]
        ):
            found.append(label[1].upper())
        else:
            raise BadInput(
                "{where}: the answer '{answer}' in '{column}' is neither a letter up to {last} nor the text of an option.",
                where=where,
                answer=text[:100],
                column=column,
                last=known[-1],
            )
    return "".join(sorted(set(found)))


def _texts(value: Any, where: Sentence, column: str) -> list[str]:
    if isinstance(value, str):
        text = value.strip()
        if text[:1] in ("[", "{"):
            value = _decoded(text)
        if isinstance(value, str):
            return text.split("|") if "|" in text else text.splitlines()
    if isinstance(value, Mapping):
        return [f"{key}. {one}" for key, one in value.items()]
    if isinstance(value, list):
        return [str(one) for one in value]
    raise BadInput("{where}: '{column}' holds no options: a list or a text is needed.", where=where, column=column)


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
