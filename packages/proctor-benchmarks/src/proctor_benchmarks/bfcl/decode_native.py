"""Read native tool calls, as `[{"geo.area": "{\\"base\\": 3}"}]`, the value of `result` in an official result file.

Source: bfcl-eval 2026.3.23, `bfcl_eval/model_handler/api_inference/openai_completion.py`, `decode_ast`.
"""

import json

from proctor.core.sentence import Sentence, say
from proctor_benchmarks.bfcl.calls import Undecodable, clipped, show


def decode(output: object) -> list[dict[str, object]]:
    """Return the calls with their arguments; of an item only the first key counts. An empty text or object is no call.

    Raises:
        Undecodable: the output is a text or null, or arguments are no JSON text.

    >>> decode([{"geo.area": '{"base": 3}'}])
    [{'geo.area': {'base': 3}}]
    """
    if not isinstance(output, list):
        if output in ("", {}):
            return []
        raise Undecodable(say("The output is {got}, expected tool calls.", got=show(output, 80)))
    return [_call(item) for item in output]


def _call(item: object) -> dict[str, object]:
    if not isinstance(item, dict) or not item:
        raise Undecodable(say("The output holds something that is no call: {got}.", got=show(item)))
    name, arguments = next(iter(item.items()))
    if not isinstance(arguments, str):
        raise Undecodable(
            say(
                "The arguments of {function} are {got}, expected JSON text.",
                function=clipped(name),
                got=show(arguments),
            )
        )
    try:
        return {name: json.loads(arguments)}
    except (ValueError, RecursionError) as error:
        raise Undecodable(
            say("The arguments of {function} are no JSON: {error}.", function=clipped(name), error=_short(error))
        ) from None


def _short(error: Exception) -> Sentence | str:
    return say("nested too deeply") if isinstance(error, RecursionError) else str(error)
