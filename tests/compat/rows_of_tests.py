"""Rows of our own for tasks whose data are not here: fields of a few kinds, in the layout that a task reads."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

ROWS = 8
SPLITS = ("train", "validation", "test", "dev", "val", "fewshot")
KINDS: Mapping[str, Callable[[int], Any]] = {
    "text": lambda n: f"text {n} with words",
    "number": lambda n: n % 3,
    "list": lambda n: [f"a{n}", f"b{n}"],
    "letter": lambda _: "A",
    "parts": lambda n: {"text": [f"t{n}"], "label": ["A"]},
    "digit": str,
    "answers": lambda n: {"value": f"a{n}", "aliases": [f"a{n}", f"b{n}"]},
    "pair": lambda n: {"en": f"text {n}", "ro": f"cuvinte {n}"},
    "choices": lambda n: {"text": [f"{letter}{n}" for letter in "abcde"], "label": [*"ABCDE"]},
}


def stand_in(fields: Mapping[str, str]) -> None:
    """Let `datasets.load_dataset` return rows with these fields, each of one of `KINDS`, for every data set and split."""
    datasets: Any = import_module("datasets")

    class AnySplit(dict[str, Any]):
        def __missing__(self, split: str) -> Any:
            rows = [{"_": n, **{name: KINDS[kind](n) for name, kind in fields.items()}} for n in range(ROWS)]
            self[split] = datasets.Dataset.from_list(rows)
            return self[split]

        def __contains__(self, split: object) -> bool:
            return True

    def load_dataset(*_: Any, split: str | None = None, **__: Any) -> Any:
        loaded = AnySplit()
        if split is not None:
            return loaded[split]
        for split in SPLITS:
            loaded[split]
        return loaded

    datasets.load_dataset = load_dataset
