"""Rows of our own for tasks whose data are not here: fields of a few kinds, in the layout that a task reads.

A field is the name of one of `KINDS`, a list of values that the rows have in turn, or a record of such fields.
"""

import struct
import zlib
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

ROWS = 8
SPLITS = ("train", "validation", "test", "dev", "val", "fewshot")
PNG = b"\x89PNG\r\n\x1a\n"


def picture(n: int) -> bytes:
    """Return a PNG of one grey pixel, another for each row."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return PNG + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes([0, n]))) + chunk(b"IEND", b"")


KINDS: Mapping[str, Callable[[int], Any]] = {
    "text": lambda n: f"text {n} with words",
    "number": lambda n: n % 3,
    "list": lambda n: [f"a{n}", f"b{n}"],
    "letter": lambda _: "A",
    "parts": lambda n: {"text": [f"t{n}"], "label": ["A"]},
    "digit": str,
    "answers": lambda n: {"value": f"a{n}", "aliases": [f"a{n}", f"b{n}"]},
    "pair": lambda n: {"en": f"text {n}", "ro": f"cuvinte {n}"},
    "picture": lambda n: {"bytes": picture(n), "path": f"{n}.png"},
    "pictures": lambda n: [{"bytes": picture(n), "path": f"{n}.png"}],
    "picture names": lambda n: [f"{n}.png"],
    "choices": lambda n: {"text": [f"{letter}{n}" for letter in "abcde"], "label": [*"ABCDE"]},
}


def rows_of(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{name: value_of(field, n) for name, field in fields.items()} for n in range(ROWS)]


def value_of(field: Any, n: int) -> Any:
    """Return the value of a field in the row of this number."""
    if isinstance(field, str):
        return KINDS[field](n)
    if isinstance(field, Mapping):
        return {name: value_of(part, n) for name, part in field.items()}
    return field[n % len(field)]


def stand_in(fields: Mapping[str, Any]) -> None:
    """Let `datasets.load_dataset` return rows with these fields for every data set and split."""
    datasets: Any = import_module("datasets")

    class AnySplit(dict[str, Any]):
        def __missing__(self, split: str) -> Any:
            self[split] = datasets.Dataset.from_list([{"_": n, **row} for n, row in enumerate(rows_of(fields))])
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
