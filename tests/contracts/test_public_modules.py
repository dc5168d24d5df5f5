"""What parts outside the kernel import of it: the public modules of decision 0101, and for our own packages ever less besides."""

import ast
import re
from collections.abc import Iterable, Iterator

import pages
import pytest

from proctor.cli.plugin_files import PARTS
from sources import imports_in

pytestmark = pytest.mark.xdist_group("source")  # read once

KERNEL = pages.ROOT / "packages" / "proctor" / "src"
DECISION = pages.ROOT / "docs" / "decisions" / "0101-what-a-part-outside-may-use.md"
MOST_PRIVATE = {  # modules of the kernel that are on neither list, by the package that imports them; it only falls
    "proctor_adapters": 39,
    "proctor_audit": 30,
    "proctor_benchmarks": 13,
    "proctor_ci": 35,
    "proctor_compat": 13,
    "proctor_judging": 22,
    "proctor_web": 25,
}


def public() -> re.Pattern[str]:
    """Return a pattern for the modules of both tables."""
    named = re.findall(r"^\| `(proctor[\w.*]*)` \|", DECISION.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(named) == len({*named}) > 20
    return re.compile("|".join(re.escape(name).replace(r"\.\*", r"(\.[\w.]+)?") for name in named))


def imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield each module of the kernel that code imports, or imports names of."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if f"{alias.name}.".startswith("proctor."))
        elif isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("proctor."):
            module = str(node.module)
            inside = [f"{module}.{alias.name}" for alias in node.names]
            yield from (name if _is_module(name) else module for name in inside)


def _is_module(name: str) -> bool:
    path = KERNEL.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@pytest.mark.parametrize("package", MOST_PRIVATE)
def test_our_packages_use_ever_less_of_what_is_not_public(package: str) -> None:
    [folder] = [folder for folder in pages.SOURCES if folder.name == package]
    known = public()
    private = {name for path in folder.rglob("*.py") for name in imports(imports_in(path)) if not known.fullmatch(name)}
    assert len(private) <= MOST_PRIVATE[package], sorted(private)


def test_none_of_our_packages_is_left_out() -> None:
    assert MOST_PRIVATE.keys() == {folder.name for folder in pages.SOURCES} - {"proctor"}


def test_each_public_module_is_there() -> None:
    named = re.findall(r"^\| `(proctor[\w.*]*)` \|", DECISION.read_text(encoding="utf-8"), re.MULTILINE)
    assert not [name for name in named if not _is_module(name.removesuffix(".*"))]


def test_the_parts_of_the_page_on_extending_import_what_is_public() -> None:
    blocks = pages.blocks(pages.ROOT / "docs" / "extending.md")
    code = "\n".join(block.text for block in blocks if (block.file_name or "").endswith(".py"))
    used = {*imports(ast.walk(ast.parse(code)))}
    assert len(used) > 5
    assert not {name for name in used if not public().fullmatch(name)}


@pytest.mark.parametrize("kind", PARTS)
def test_a_written_plugin_imports_what_is_public(kind: str) -> None:
    part = PARTS[kind]
    texts = [part.text, part.test, *part.others.values()]
    words = dict.fromkeys(("project", "module", "type", "scheme", "variable"), "Mine")
    used = {name for text in texts for name in imports(ast.walk(ast.parse(text.format(**words))))}
    assert used
    assert not {name for name in used if not public().fullmatch(name)}
