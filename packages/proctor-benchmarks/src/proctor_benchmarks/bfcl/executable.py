"""From what a model put out in one step to calls that are run: texts such as `cd(folder='temp')`.

    "[cd(folder='temp'), ls()]"               in prompt mode
    [{"cd": "{\"folder\": \"temp\"}"}]        in native mode, as in an official result file

Source: bfcl-eval 2026.3.23, `bfcl_eval/model_handler/utils.py` (`default_decode_execute_prompting`,
`decoded_output_to_execution_list`, `convert_to_function_call`) and `multi_turn_utils.py` (`is_empty_execute_response`).
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from proctor.core.sentence import Sentence, say
from proctor_benchmarks.bfcl import decode_python
from proctor_benchmarks.bfcl.calls import Undecodable, show
from proctor_benchmarks.bfcl.decode import Mode, in_brackets

_BREAKS = (AttributeError, LookupError, TypeError, ValueError, RecursionError)


class Executable(msgspec.Struct, frozen=True):
    """A call as it is run, by its name and arguments."""

    name: str
    arguments: Mapping[Any, Any]
    written: str

    def __str__(self) -> str:
        return f"{self.name}({self.written})"


def executable(output: object, mode: Mode) -> Sequence[Executable]:
    """Return the calls of one step; none where the step ends the turn.

    Raises:
        Undecodable: the step is no call at all, which ends the turn too.

    >>> [str(call) for call in executable("[cd(folder='a'), sort('b')]", "prompt")]
    ["cd(folder='a')", 'sort()']
    >>> [str(call) for call in executable([{"mv": '{"source": "a", "destination": "b"}'}], "native")]
    ["mv(source='a',destination='b')"]
    """
    try:
        if mode == "native":
            return _of_native(output)
        found = (
            _of_text(output)
            if isinstance(output, str)
            else say("The output is {got}, expected text.", got=show(output, 80))
        )
    except _BREAKS as error:
        raise Undecodable(say("The step is no call that can be run: {error}.", error=show(str(error)))) from None
    if isinstance(found, Sentence):
        raise Undecodable(found)
    return found


def executable_or_none(output: object, mode: Mode) -> Sequence[Executable]:
    """Return the calls of one step; an empty list where the text is not a call."""
    try:
        return executable(output, mode)
    except Undecodable:
        return []


@lru_cache(maxsize=4_096)
def _of_text(output: str) -> Sequence[Executable] | Sentence:
    """Return the calls, or why there are none; kept, as a reply is read when it is played, and again when it is scored."""
    try:
        calls = decode_python.decode(in_brackets(output))
    except Undecodable as error:
        return error.reason
    return tuple(Executable(name, given, _arguments(given)) for call in calls for name, given in call.items())


def _of_native(output: Any) -> list[Executable]:
    calls = []
    for item in [output] if isinstance(output, dict) else output:
        for name, given in item.items():
            arguments = json.loads(given) if isinstance(given, str) else given
            written = ",".join([f"{key}={value!r}" for key, value in arguments.items()])
            calls.append(Executable(name, arguments, written))
    return calls


def _arguments(given: Mapping[Any, object]) -> str:
    return ", ".join([f"{key}={_value(value)}" for key, value in given.items()])


def _value(value: object) -> str:
    if not isinstance(value, dict):
        return repr(value)
    if all(isinstance(item, dict) for item in value.values()):  # upstream takes this for a call, and fails on {}
        name = next(iter(value.keys()), None)
        return f"{name}({_arguments(value[name])})"
    return "{" + ", ".join([f"'{key}': {_value(item)}" for key, item in value.items()]) + "}"
