"""A module with an underscore is used in its own package only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import proctor
from sources import imports_in

pytestmark = pytest.mark.xdist_group("source")  # read once

SOURCE = Path(proctor.__file__).parent


def modules() -> dict[str, Path]:
    named = {
        ".".join(("proctor", *path.relative_to(SOURCE).with_suffix("").parts)): path for path in SOURCE.rglob("*.py")
    }
    return {name.removesuffix(".__init__"): path for name, path in named.items()}


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    for node in imports_in(path):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("proctor"):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("proctor"))


def test_no_private_module_is_imported_from_another_package() -> None:
    known, found = modules(), []
    for name, path in known.items():
        for other in imported(path, known):
            parts = other.split(".")
            private = next((place for place, part in enumerate(parts) if part.startswith("_")), None)
            if private is None or parts[private].startswith("__"):
                continue
            owner = ".".join(parts[:private])
            if name != owner and not name.startswith(f"{owner}."):
                found.append(f"{name} imports {other}")
    assert found == []
