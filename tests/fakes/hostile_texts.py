"""Texts that try to steer a terminal, a page, a spreadsheet or a parser, runs in which every word is one of them, and what finds them again."""

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

from markdown_it import MarkdownIt

import proctor
from proctor.core.sample import Message, Reasoning, Sample, Text, ToolCall, ToolResult, Turn
from proctor.core.score import Score
from proctor.core.task import Session
from proctor.core.trajectory import Step

TEXTS = {
    "clear": "\x1b[2J\x1b[31mred", "link": "\x1b]8;;http://evil.example\x07click\x1b]8;;\x07", "clipboard": "\x1b]52;c;ZXZpbA==\x07", "c1": "\x9b2J\x9d52;c;x\x9c",
    "turned": "\u202egnp.exe\u202c \u2066x\u2069", "nul": "a\x00b", "zero width": "a\u200bb\ufeffc", "return": "safe\rEVIL", "back": "a\x08\x08b\x7f", "tags": "a\U000e0041\U000e007f",
    "script": "</script><script>alert(1)</script>", "image": '"><img src=http://evil.example/x onerror=alert(1)>', "svg": "<svg/onload=alert(1)>", "comment": "--><script>alert(1)</script><!--",
    "style": "</style><style>@import 'http://evil.example'</style>", "formula": "=cmd|'/C calc'!A0", "at": "@SUM(1+1)", "plus": "+1+1", "minus": "-2+3", "tab": "\t=1+1", "line": "\n=1+1",
    "markdown image": "![x](http://evil.example/x.png)", "markdown link": "[x](javascript:alert(1))", "reference": "[x]\n\n[x]: http://evil.example", "table": "a|b\n|---|\n| x |", "fence": "```\n</code>\n~~~",
    "latex": "$\\href{javascript:alert(1)}{x}$ \\input{/etc/passwd}", "entity": "]]><!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;&lt;", "proto": "__proto__", "up": "../../x", "back up": "..\\..\\x", "root": "/etc/passwd",
    "device": "CON", "device file": "NUL.txt", "windows": 'a:b*c?d|e<f>"g', "template": "{{7*7}}{% include '/etc/passwd' %}${7*7}", "format": "{name} {0} {__class__} %s %n %(x)s", "rich": "[red]x[/red][/][link=http://evil.example]x[/link]",
    "separators": "a\u2028b\u2029c\x85d", "sql": "x'; DROP TABLE trials; --", "quotes": "a\"b'c`d", "label": 'x"} 1\nevil{a="b"} 2\\', "number": "NaN",
}  # fmt: skip
LONG = {  # for what reads them with patterns or a parser
    "deep": "[" * 20_000 + "]" * 20_000, "deep object": '{"a":' * 5_000 + "1" + "}" * 5_000, "one line": "q" * 1_000_000, "pumped": "a" * 5_000 + "!", "spaces": " " * 5_000 + "x", "digits": "9" * 5_000,
    **{sign: sign * 3_000 for sign in (";", "*", "_", "`", "[", "(", "$", "<", "&", "![", "|", "\\", "“", "{", "<a ", "\n#", "1. ", "\\(")},
}  # fmt: skip
NAME = "\x1b]52;c;x\x07</script><img src=http://evil.example/x onerror=alert(1)>\u202e=1+1 ../../x"
_STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f\ud800-\udfff]"
)
_FETCHED = ("src", "srcset", "action", "formaction", "data", "poster", "background", "xlink:href")


def harmless(text: str) -> str:
    """Return a text of the same length that means nothing to anybody."""
    return "".join(" " if character.isspace() else "x" for character in text)


def run_of(texts: Mapping[str, str], name: str, run_id: str, store: str) -> proctor.Run:
    """Run an agent that says each text in every place it can: calls, results, answers, and an error."""
    said = {f"{text[:100]}·{key}": text for key, text in texts.items()}
    samples = [
        Sample(
            id=id,
            turns=(Turn(messages=(Message.of("system", text), Message.of("user", text))),),
            target=text,
            cluster=text[:80],
            tags={"kind": text[:80], text[:40] or "-": text[:80]},
            meta={text[:80]: text},
        )
        for id, text in said.items()
    ]

    def judged(sample: Sample, trajectory: proctor.Trajectory) -> Score:
        text = said[sample.id]
        return Score(points=len(sample.id) % 2, answer=text, reason=text, details={text[:40]: text})

    task = proctor.Task(name=name, version=name[:50], samples=samples, scorers=["exact", judged])
    return proctor.evaluate(task, agent=_Repeating(said, name), store=store, run_id=run_id)


class _Repeating:
    """An agent that says the text of a sample wherever it can; every tenth time it raises it."""

    tools = "native"
    concurrency = 4

    def __init__(self, said: Mapping[str, str], name: str) -> None:
        self.name = name
        self._said = said
        self._ids = list(said)

    def open(self, sample: Sample, environment: object) -> AbstractAsyncContextManager[Session]:
        return nullcontext(_Said(self._said[sample.id], self._ids.index(sample.id) % 10 == 9))


class _Said:
    def __init__(self, text: str, is_raised: bool) -> None:
        self._text = text
        self._is_raised = is_raised

    async def send(self, turn: Turn) -> Sequence[Step]:
        text = self._text
        if self._is_raised:
            raise ValueError(text)
        call = ToolCall(name=text[:80], arguments={text[:40]: text, "a": [text]}, id=text[:20])
        result = ToolResult(name=text[:80], content=text, id=text[:20], is_error=True)
        return [
            Step(message=Message(role="assistant", parts=(Reasoning(text=text), Text(text=text), call))),
            Step(author="tool", message=Message(role="tool", parts=(result,))),
            Step(message=Message.of("assistant", text)),
        ]


class _Page(HTMLParser):
    """Collects what a page would fetch or run."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            text = (value or "").strip().lower()
            runs = name.startswith("on") or text.startswith(("javascript:", "vbscript:", "data:text"))
            fetches = "evil.example" in text and (
                name in _FETCHED or (name, tag) == ("href", "link") or name == "style"
            )
            if runs or fetches or (name, text[:19]) == ("href", "http://evil.example"):
                self.found.append(f"<{tag} {name}={text[:60]}>")
        if tag in ("iframe", "object", "embed", "base"):
            self.found.append(f"<{tag}>")


def on_a_terminal(text: str) -> list[str]:
    """What would steer a terminal, with what is around it."""
    plain = text.replace("\r\n", "\n")
    return [ascii(plain[max(0, one.start() - 40) : one.start() + 20]) for one in _STEERS.finditer(plain)][:3]


def in_html(text: str) -> list[str]:
    """What a page would run or fetch."""
    page = _Page()
    page.feed(text)
    written = [one for one in ("<script>alert(1)", "<style>@import") if one in text]
    return page.found[:3] + written + on_a_terminal(text)


def in_markdown(text: str) -> list[str]:
    """What a page would run or fetch that is made of a Markdown file, such as one that a code host shows."""
    body = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(body)
    return in_html(page) + re.findall("<img[^>]*>", page)[:2]


def in_csv(text: str) -> list[str]:
    """The cells that a spreadsheet would calculate."""
    csv.field_size_limit(sys.maxsize)
    cells = (cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row)
    is_number = re.compile(r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?").fullmatch
    return [ascii(cell[:40]) for cell in cells if cell[:1] in tuple("=+-@\t\r") and not is_number(cell)][:3]


def in_json(text: str) -> list[str]:
    """Why it is no JSON."""
    try:
        json.loads(text)
    except ValueError as error:
        return [str(error)]
    return []


def in_json_lines(text: str) -> list[str]:
    return [fault for line in text.split("\n") if line for fault in in_json(line)]


def in_xml(text: str) -> list[str]:
    """Why it is no XML, or what it would fetch or steer."""
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        return [str(error)]
    return (["<!DOCTYPE"] if "<!DOCTYPE" in text else []) + on_a_terminal(text)


FAULTS: Mapping[str, Callable[[str], list[str]]] = {
    ".html": in_html, ".md": in_markdown, ".csv": in_csv, ".json": in_json, ".jsonl": in_json_lines, ".xml": in_xml, ".yaml": on_a_terminal,
}  # fmt: skip


def faults_of(file: Any) -> list[str]:
    """What is wrong with a text file that was written, by its suffix; nothing for the binary kinds."""
    check = FAULTS.get(file.suffix)
    return [] if check is None else check(file.read_text(encoding="utf-8"))
