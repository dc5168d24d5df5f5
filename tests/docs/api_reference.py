"""Write `docs/api.md`: the public names with their signatures and docstrings, in both languages."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pages

import proctor
from proctor.api import RunOptions

PAGE = pages.ROOT / "docs" / "api.md"
GROUPS = {
    ("Run and read", "运行与读取"): (
        "evaluate",
        "evaluate_async",
        "score",
        "rescore",
        "open_run",
        "compare",
        "plan",
        "gate",
        "explain_delta",
        "race",
        "run_tier",
        "trends",
        "Run",
    ),
    ("Options of a run", "运行的选项"): ("RunOptions", "Limits"),
    ("Numbers", "数字"): ("Estimate",),
    ("Tasks", "任务"): ("Task", "Sample", "Turn", "Message", "Tool", "ToolCall"),
    ("Scoring", "评分"): ("Score", "Unscored", "Trajectory", "scorer"),
    ("Eval sets", "评测集"): ("record", "save_eval_set"),
    ("Other programs", "其他程序"): ("inspect_agent",),
    ("Errors", "错误"): ("BadInput",),
}
INTRODUCTION = {
    "en": "# Python API\n\nEverything here is imported from `proctor`, and loaded when it is first used. This page is made from the docstrings; `help(proctor.evaluate)` shows the same.\n",
    "zh": "# Python API\n\n这里的一切都从 `proctor` 导入，首次使用时才载入。本页由源代码的文档字符串（英文）生成；`help(proctor.evaluate)` 显示同样的内容。\n",
}


def page(lang: str) -> str:
    """Return the page in a language; headings and introduction are translated, docstrings are not."""
    parts = [INTRODUCTION[lang]]
    for (english, chinese), names in GROUPS.items():
        parts.append(f"## {english if lang == 'en' else chinese}\n")
        for name in names:
            value = RunOptions if name == "RunOptions" else getattr(proctor, name)
            parts.append(f"### {name}\n\n" + "\n".join(_described(name, value)))
    return "\n".join(parts)


def _described(name: str, value: Any) -> Iterator[str]:
    yield f"```text\n{_signature(name, value)}\n\n{inspect.getdoc(value)}\n```\n"
    if inspect.isclass(value) and not issubclass(value, Exception):
        rows = [] if value is RunOptions else [*_fields(value), *_members(value)]
        if rows:
            yield "| | |\n|---|---|\n" + "\n".join(rows) + "\n"


def _signature(name: str, value: Any) -> str:
    if inspect.isclass(value):
        return f"class {name}"
    if "RunOptions" in (value.__doc__ or ""):
        return f"{name}(task, **options: RunOptions) -> {_plain(inspect.signature(value).return_annotation)}"
    signature = inspect.signature(value)
    parameters = sorted(signature.parameters.values(), key=lambda one: one.kind is one.VAR_KEYWORD)
    by_name = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    given = ", ".join(_plain(str(one)) for one in parameters if one.kind not in by_name)
    named = [_plain(str(one)) for one in parameters if one.kind in by_name]
    return f"{name}({', '.join([given] * bool(given) + ['*', *named] * bool(named))}) -> {_plain(signature.return_annotation)}"


def _fields(value: Any) -> Iterator[str]:
    if issubclass(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            default = "" if field.default is msgspec.NODEFAULT else f" = {field.default!r}"
            kind = _plain(field.type).replace("|", "\\|")
            yield f"| `{field.name}` | `{kind}{default}` |"


def _members(value: Any) -> Iterator[str]:
    for name, one in vars(value).items():
        function = one.fget if isinstance(one, property) else getattr(one, "func", getattr(one, "__func__", one))
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        called = name if isinstance(one, property) or hasattr(one, "func") else f"{name}()"
        yield f"| `{called}` | {(inspect.getdoc(function) or '').partition(chr(10))[0]} |"


def _plain(annotation: Any) -> str:
    """Return a type as one reads it: without the modules that it comes from."""
    named = inspect.isclass(annotation) and not getattr(annotation, "__args__", None)
    text = annotation.__name__ if named else str(annotation)
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Za-z])", "", text).replace("'", "")
