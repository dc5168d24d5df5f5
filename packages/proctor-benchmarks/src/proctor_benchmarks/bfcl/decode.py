"""From what a model put out to calls: the common steps, then the decoder of the language.

Source: bfcl-eval 2026.3.23, `bfcl_eval/model_handler/utils.py`, `default_decode_ast_prompting`.
"""

from typing import Literal

from proctor.core.sentence import say
from proctor_benchmarks.bfcl import decode_java, decode_javascript, decode_native, decode_python, decode_structured
from proctor_benchmarks.bfcl.calls import Call, Undecodable, checked, show
from proctor_benchmarks.bfcl.formats import ORDINARY, Format

Mode = Literal["prompt", "native"]
Language = Literal["python", "java", "javascript"]


def decode(output: object, mode: Mode, language: Language = "python", form: Format = ORDINARY) -> list[Call]:
    """Return the calls in an output; `output` is what is under `result` in an official result file.

    Raises:
        Undecodable: the output is not in the official form.

    >>> decode("f(x=1), g()", "prompt")
    [{'f': {'x': 1}}, {'g': {}}]
    """
    if mode == "native":
        return checked(decode_native.decode(output))
    if not isinstance(output, str):
        raise Undecodable(say("The output is {got}, expected text.", got=show(output, 80)))
    text = in_brackets(output)
    if language == "java":
        return decode_java.decode(text[1:-1])
    if language == "javascript":
        return decode_javascript.decode(text[1:-1])
    if form.tagged:
        inside = decode_structured.between(text, "<TOOLCALL>", "</TOOLCALL>")
        if inside is None:
            raise Undecodable(say("The output has no <TOOLCALL> section."))
        text = inside.strip()
    if form.ret_fmt == "json":
        return checked(decode_structured.decode_json(text))
    if form.ret_fmt != "python":
        return checked(decode_structured.decode_xml(text, verbose=form.ret_fmt == "verbose_xml"))
    return decode_python.decode(text)


def in_brackets(output: str) -> str:
    """Return the text of prompting mode as a list; upstream adds the bracket that is missing at either end."""
    text = output.strip("`\n ")
    opening = "" if text.startswith("[") else "["
    closing = "" if text.endswith("]") else "]"
    return f"{opening}{text}{closing}"
