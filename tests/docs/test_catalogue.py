"""Every sentence for people is in the catalogue once, with the same names in braces, and nothing else is."""

import ast
import string
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
import jinja2
import pytest
from jinja2 import nodes
from pages import SOURCES, source_files

from proctor.cli.list import ROOM_BY_WORD, parts
from proctor.core import errors

pytestmark = pytest.mark.xdist_group("source")  # read once
SPEAKERS = {"say", "speak", "lazy", "t", "Sentence"} | {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.ProctorError) and value is not errors.MissingExtra
}
LANGUAGES = sorted({path.stem for folder in SOURCES for path in (folder / "locales").glob("*.toml")})


def test_a_text_made_on_the_spot_is_found(tmp_path: Path) -> None:
    path = tmp_path / "part.py"
    path.write_text('say("a {b}" if x else "c", b=1)\nraise BadInput(f"no {name}")\n')
    assert list(_in_python(path)) == [("a {b}", "part.py:1"), ("c", "part.py:1"), (None, "part.py:2")]


def test_a_text_out_of_a_table_is_found(tmp_path: Path) -> None:
    path = tmp_path / "part.py"
    path.write_text('TEXTS = {"x": "a"}\nfor key, text in TEXTS.items(): say(text)\n[say(one) for one in ("b", "c")]\n')
    assert {text for text, _ in _in_python(path)} == {"a", "b", "c"}


def test_no_text_is_made_on_the_spot() -> None:
    made = [where for text, where in _said().spoken if text is None]
    assert not made, f"a text with values set in cannot be translated; name the values instead: {made}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated(language: str) -> None:
    missing = {text: where for text, where in _said().spoken if text is not None and text not in _catalogue(language)}
    assert not missing, "\n".join(f"{where}: {text}" for text, where in missing.items())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_translation_is_used(language: str) -> None:
    unused = set(_catalogue(language)) - {text for text, _ in _said().spoken} - _said().constants - _clicks()
    assert not unused


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_names_the_same_values(language: str) -> None:
    wrong = {text: said for text, said in _catalogue(language).items() if _names(text) != _names(said)}
    assert not wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_stands_in_one_table_only(language: str) -> None:
    times = Counter(text for table in _tables(language) for text in table)
    assert not [text for text, count in times.items() if count > 1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_part_that_is_listed_is_described(language: str) -> None:
    described = {text for room in ROOM_BY_WORD.values() for text in parts(room).values()}
    assert not described - set(_catalogue(language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_not_known_is_named_in_the_language(language: str) -> None:
    named = _said().unknown
    assert {"sample", "rubric"} <= named
    assert not named - set(_catalogue(language))


@cache
def _catalogue(language: str) -> dict[str, str]:
    return {text: said for table in _tables(language) for text, said in table.items()}


def _tables(language: str) -> Iterator[Mapping[str, str]]:
    for folder in SOURCES:
        path = folder / "locales" / f"{language}.toml"
        if path.is_file():
            yield from tomllib.loads(path.read_text(encoding="utf-8")).values()


class Said(NamedTuple):
    """What the code says.

    Attributes:
        spoken: every text for people with its place; None where it is put together on the spot.
        constants: every text, as what is spoken may come out of a field, such as the state of a run.
        unknown: what is named where something is not known.
    """

    spoken: list[tuple[str | None, str]]
    constants: set[str]
    unknown: set[str]


@cache
def _said() -> Said:
    """Read every file once."""
    said = Said([], set(), set())
    for path in source_files():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        nodes = [*ast.walk(tree)]
        said.spoken.extend(_in_tree(tree, nodes, path))
        for node in nodes:
            match node:
                case ast.Constant(value=str(text)):
                    said.constants.update((text, text.partition("\n")[0]))
                case ast.Call(
                    func=ast.Name(id="unknown") | ast.Attribute(value=ast.Name(id="registry"), attr="unknown"),
                    args=[ast.Constant(value=str(text)), *_],
                ):
                    said.unknown.add(text)
    for path in source_files("*"):
        if path.suffix in (".jinja", ".html", ".j2"):
            said.spoken.extend(_in_template(path))
    return said


@cache
def _clicks() -> set[str]:
    """Every text that click looks up, so that the table of its words can be checked too."""
    return {
        text
        for path in Path(click.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("_", "ngettext")
        for text in _strings(node)
    } | {kind.name for kind in vars(click.types).values() if isinstance(kind, type) and hasattr(kind, "name")}


def _in_python(path: Path) -> Iterator[tuple[str | None, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return _in_tree(tree, [*ast.walk(tree)], path)


def _in_tree(tree: ast.Module, nodes: Sequence[ast.AST], path: Path) -> Iterator[tuple[str | None, str]]:
    tables = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    looped = {
        name.id: loop.iter
        for loop in nodes
        if isinstance(loop, ast.For | ast.comprehension)
        for name in ast.walk(loop.target)
        if isinstance(name, ast.Name)
    }
    own = {node.name for node in nodes if isinstance(node, ast.ClassDef)} - {"Sentence"}
    for node in nodes:
        if isinstance(node, ast.Call) and node.args and _is_speaker(node.func, path, own):
            for text in _texts(node.args[0], looped, tables):
                yield text, f"{path.name}:{node.lineno}"


def _is_speaker(function: ast.expr, path: Path, own: Collection[str]) -> bool:
    if isinstance(function, ast.Name):
        return function.id in SPEAKERS and function.id not in own
    if isinstance(function, ast.Attribute):
        return function.attr in SPEAKERS - {"say"} or (path.name == "errors.py" and function.attr == "__init__")
    return False


def _texts(node: ast.expr, looped: Mapping[str, ast.expr], tables: Mapping[str, ast.expr]) -> Iterator[str | None]:
    """The texts an argument can be: a literal, one of two, or one of a table that is looped over or looked up in."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from _texts(body, looped, tables)
            yield from _texts(orelse, looped, tables)
        case ast.JoinedStr() | ast.BinOp() | ast.Call(func=ast.Attribute(attr="format" | "join")):
            yield None
        case ast.Name(id=name) if name in looped:
            yield from _in_table(looped[name], tables)
        case ast.Subscript(value=ast.Name() as table):
            yield from _in_table(table, tables)


def _in_table(node: ast.expr, tables: Mapping[str, ast.expr]) -> Iterator[str]:
    match node:
        case ast.Tuple() | ast.List():
            yield from _strings(node)
        case ast.Dict(values=values):
            for value in values:
                yield from _strings(value)
        case ast.Name(id=name) if name in tables:
            yield from _in_table(tables[name], {})
        case ast.Call(func=ast.Attribute(value=ast.Name() as table, attr="items" | "values")):
            yield from _in_table(table, tables)


def _strings(tree: ast.AST) -> Iterator[str]:
    return (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))


def _in_template(path: Path) -> Iterator[tuple[str | None, str]]:
    tree = jinja2.Environment(autoescape=True, extensions=["jinja2.ext.do"]).parse(path.read_text(encoding="utf-8"))
    for call in tree.find_all(nodes.Call):
        if isinstance(call.node, nodes.Name) and call.node.name == "t" and call.args:
            match call.args[0]:
                case nodes.Const(value=str(text)):
                    yield text, f"{path.name}:{call.lineno}"
                case nodes.Concat() | nodes.Add():
                    yield None, f"{path.name}:{call.lineno}"


def _names(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
