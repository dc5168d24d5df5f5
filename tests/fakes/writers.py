"""Agents that write problems, and the problems they write: all different, unless they are told otherwise."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

_WORDS = """
apple triangle circle polygon integer prime digit sum product lattice path coin dice card urn square root matrix vector
line plane sphere cube angle median chord divisor remainder sequence series function graph knight bishop walk tile
"""
WORDS = _WORDS.split()


def text(seed: int) -> str:
    """The words of a problem that is like no other."""
    draw = Random(seed)
    return " ".join(draw.choice(WORDS) for _ in range(30))


def item(seed: int, **other: Any) -> dict[str, Any]:
    """A problem with a formula, an answer and its solution."""
    answer = seed % 1000
    return {
        "problem": rf"Let $x=\frac{{1}}{{2}}$ and {text(seed)}.",
        "answer": answer,
        "solution": f"Count them. The answer is {answer}.",
        "topic": ("Algebra", "Geometry")[seed % 2],
        **other,
    }


def writer(replies: Sequence[Any] = (), start: int = 0) -> Callable[[str], str]:
    """An agent that gives these replies first, and then problems that are all different; texts are given as they are."""
    given: Iterator[Any] = iter(replies)
    numbers = count(start)

    def write(prompt: str) -> str:
        said = next(given, None)
        if said is None:
            said = item(next(numbers))
        return said if isinstance(said, str) else json.dumps(said)

    return write


def data_file(path: Path, items: Sequence[Any]) -> Path:
    """Items as a JSON file."""
    path.write_text(json.dumps(items, ensure_ascii=False), encoding="utf-8")
    return path
