"""The official rule for one turn: are these the right calls?

    functions: [{"name": "geo.area", "parameters": {"type": "dict", "properties": {"base": {"type": "integer"},
                 "unit": {"type": "string"}}, "required": ["base"]}}]
    answers:   [{"geo.area": {"base": [3], "unit": ["cm", ""]}}]          "" means: may be left out
    output:    "[geo.area(base=3)]" in prompt mode, [{"geo_area": "{\"base\": 3}"}] in native mode

Source: bfcl-eval 2026.3.23, `bfcl_eval/eval_checker/eval_runner.py` and `ast_eval/ast_checker.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.sample import JsonObject
from proctor.core.sentence import Sentence
from proctor_benchmarks.bfcl import java_values, javascript_values
from proctor_benchmarks.bfcl.calls import Call, Undecodable, first
from proctor_benchmarks.bfcl.compare import fault_of, write
from proctor_benchmarks.bfcl.declared_types import TYPES, WITH_ELEMENTS, Language, language_of
from proctor_benchmarks.bfcl.decode import Mode, decode
from proctor_benchmarks.bfcl.explain import explain
from proctor_benchmarks.bfcl.fault import BfclFault, Near, Rule
from proctor_benchmarks.bfcl.formats import ORDINARY, Format

Document = JsonObject
Answer = Mapping[str, Mapping[str, Sequence[object]]]

BREAKS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What the official code can raise on strange documents, answers and values, which would end its run."""

_SIMPLE = "simple_function_checker:"
_PARALLEL = "parallel_function_checker_no_order:"
_INSIDE = ("value_error:dict_key", "value_error:dict_value", "value_error:list_dict_count")


class CheckerResult(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict, the calls if the output could be decoded, and the fault if there is one."""

    valid: bool
    error_type: str | None = None
    calls: Sequence[Call] | None = None
    fault: BfclFault | None = None

    @property
    def reason(self) -> Sentence | str:
        """What is wrong, with the place and the rule; '' when nothing is. Made when asked for."""
        return "" if self.fault is None else explain(self.fault)


class CheckerRules(msgspec.Struct, frozen=True):
    """What the check of one call depends on: the language, and whether dots in names became underscores."""

    language: Language
    underscores: bool


def check(
    functions: Sequence[Document],
    answers: Sequence[Answer] | None,
    category: str,
    model_output: object,
    *,
    mode: Mode,
    underscores: bool,
    form: Format = ORDINARY,
) -> CheckerResult:
    """Judge an output; no output of a model makes it raise.

    Args:
        functions: the function documents of the sample, as in the file.
        answers: its `ground_truth`; None where the category asks only whether there is a call.
        category: a single-turn category, such as `simple_python`; of format sensitivity, the one that the question is of.
        model_output: the value under `result` in an official result file.
        mode: text (`prompt`) or native tool calls (`native`).
        underscores: names were offered with dots made underscores, as most endpoints want them.
        form: how calls were asked for in text.
    """
    rules = CheckerRules(language_of(category), underscores)
    calls: Sequence[Call] | None = None
    try:
        calls = decode(model_output, mode, rules.language, form)
        if "relevance" in category:
            fault = _unwanted(calls, category)
        else:
            fault = calls_fault(functions, calls, answers or (), category, rules)
    except Undecodable as error:
        fault = _undecodable(error, category)
    except BREAKS as error:
        fault = crash(error)
    return CheckerResult(
        valid=fault is None, error_type=None if fault is None else fault.error_type, calls=calls, fault=fault
    )


def calls_fault(
    functions: Sequence[Document], calls: Sequence[Call], answers: Sequence[Answer], category: str, rules: CheckerRules
) -> BfclFault | None:
    """Return the fault of calls against the expected ones. The name of the category decides how they are matched."""
    if "parallel" in category:
        return _parallel_fault(functions, calls, answers, rules)
    if "multiple" in category:
        if len(calls) != len(answers):
            return _count_fault("multiple_function_checker:wrong_count", calls, answers)
        return call_fault(document_of(functions, answers[0]), calls[0], answers[0], rules)
    if len(calls) != 1:
        return _count_fault(_SIMPLE + "wrong_count", calls, answers)
    return call_fault(functions[0], calls[0], answers[0], rules)


def call_fault(document: Document | None, call: Call, answer: Answer, rules: CheckerRules) -> BfclFault | None:
    """Return the first fault of one call against one expected call."""
    _, allowed = first(answer)
    if document is None:
        raise TypeError("an answer without a document")  # breaks off upstream too
    name, parameters = document["name"], document["parameters"]
    schemas, required = parameters["properties"], parameters["required"]
    if rules.underscores:
        name = name.replace(".", "_")
    if name not in call:
        return BfclFault(error_type=_SIMPLE + "wrong_func_name", function=name, got=first(call)[0])
    given = call[name]
    for parameter in required:
        if parameter not in given:
            unknown = [other for other in given if other not in schemas]
            return BfclFault(
                error_type=_SIMPLE + "missing_required",
                function=name,
                parameter=parameter,
                allowed=allowed.get(parameter),
                got=unknown,
            )
    for parameter, value in given.items():
        fault = value_fault(parameter, value, schemas, allowed, rules.language)
        if fault is not None:
            return msgspec.structs.replace(fault, function=name)
    for parameter, options in allowed.items():
        if parameter not in given and "" not in options:
            return BfclFault(
                error_type=_SIMPLE + "missing_optional", function=name, parameter=parameter, allowed=options
            )
    return None


def value_fault(
    parameter: str | None, value: Any, schemas: JsonObject, allowed: JsonObject, language: Language
) -> BfclFault | None:
    """Return the fault of one given parameter; `schemas` and `allowed` are those of all parameters."""
    if parameter is None or parameter not in schemas or parameter not in allowed:
        rule: Rule = "not_in_answer" if parameter in schemas else "not_declared"
        known = list(schemas)
        return BfclFault(
            error_type=_SIMPLE + "unexpected_param", rule=rule, parameter=parameter, allowed=known, got=value
        )
    schema, options = schemas[parameter], allowed[parameter]
    declared = schema["type"]
    expected, element, inner = TYPES[language][declared], None, None
    if language != "python" and type(value) is not str:
        write(value)
        error_type = "type_error:java" if language == "java" else "type_error:js"
        return BfclFault(error_type=error_type, parameter=parameter, allowed=options, got=value, declared=declared)
    if declared in WITH_ELEMENTS[language]:
        inner = schema["items"]["type"]
        element = TYPES[language][inner]
    converted = value
    if language == "java":
        converted = java_values.convert(value, declared, inner)
    elif language == "javascript":
        converted = javascript_values.convert(value, declared, inner)
    elif declared == "float" and type(value) is int:
        converted = float(value)
    elif declared == "tuple" and type(value) is tuple:
        converted = list(value)
    fault = fault_of(converted, options, expected, element)
    if fault is None:
        return None
    if fault.error_type in _INSIDE:  # has its own expectation
        return msgspec.structs.replace(fault, parameter=parameter, declared=declared)
    word = f"{declared}[{inner}]" if inner else declared
    return msgspec.structs.replace(fault, parameter=parameter, declared=word, allowed=options, got=converted)


def document_of(functions: Sequence[Document], answer: Answer) -> Document | None:
    """Return the document of the function that an answer names."""
    name, _ = first(answer)
    return next((document for document in functions if document["name"] == name), None)


def crash(error: Exception) -> BfclFault:
    """Return the fault where the official code would break off; the corpora would say so, and the sample is wrong."""
    return BfclFault(error_type=f"crash:{type(error).__name__}", got=str(error))


def _parallel_fault(
    functions: Sequence[Document], calls: Sequence[Call], answers: Sequence[Answer], rules: CheckerRules
) -> BfclFault | None:
    """Return each answer in turn takes the first free call that fits; a better assignment is not looked for."""
    if len(calls) != len(answers):
        return _count_fault(_PARALLEL + "wrong_count", calls, answers)
    free = dict(enumerate(calls))
    for answer in answers:
        document = document_of(functions, answer)
        near: list[Near] = []
        for index, call in free.items():
            fault = call_fault(document, call, answer, rules)
            if fault is None:
                del free[index]
                break
            near.append(Near(index, call, fault))
        else:
            return BfclFault(error_type=_PARALLEL + "cannot_find_match", allowed=answer, near=tuple(near))
    return None


def _count_fault(error_type: str, calls: Sequence[Call], answers: Sequence[Answer]) -> BfclFault:
    got, expected = [first(call)[0] for call in calls], [first(answer)[0] for answer in answers]
    return BfclFault(error_type=error_type, got=got, allowed=expected)


def _unwanted(calls: Sequence[Call], category: str) -> BfclFault | None:
    """Return whether there is a call is all that counts; any invented function is one."""
    if "irrelevance" in category:
        return BfclFault(error_type="irrelevance_error:decoder_success", got=list(calls)) if calls else None
    return None if calls else BfclFault(error_type="relevance_error:decoder_failed", got="")


def _undecodable(error: Undecodable, category: str) -> BfclFault | None:
    if "irrelevance" in category:
        return None
    if "relevance" in category:
        return BfclFault(error_type="relevance_error:decoder_failed", got=error.reason)
    word = "decoder_wrong_output_format" if error.malformed else "decoder_failed"
    return BfclFault(error_type=f"ast_decoder:{word}", got=error.reason)
