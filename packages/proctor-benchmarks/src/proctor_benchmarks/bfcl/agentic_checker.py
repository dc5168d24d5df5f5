"""The official rule of memory and web search: does the last message hold an accepted answer?

    answers: ["Michael"]
    result:  [["[core_memory_retrieve(key='name')]", "{'answer': 'Michael', 'context': 'the memory says so'}"]]

One turn of steps. A step that is no call, or calls nothing, is a message; the last message counts, also when calls follow it.

Source: bfcl-eval 2026.3.23, `bfcl_eval/eval_checker/agentic_eval/agentic_checker.py` and `eval_runner.py`
(`_evaluate_single_agentic_entry`).
"""

import re
from collections.abc import Sequence

import msgspec

from proctor.core.sentence import Sentence, say
from proctor_benchmarks.bfcl.calls import clipped
from proctor_benchmarks.bfcl.decode import Mode
from proctor_benchmarks.bfcl.executable import executable_or_none

_IGNORED = re.compile(r"[,./\-_*^()]")
_MOST_LISTED = 5


class AgenticResult(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict, and the message it is about."""

    error_type: str | None = None
    message: str | None = None
    reason: Sentence | str = ""


def check_answer(output: object, answers: Sequence[str], mode: Mode) -> AgenticResult:
    """Judge the value under `result` in an official result file; no output of a model makes it raise.

    >>> check_answer([["It is 1,234, Ann."]], ["1234"], "prompt").error_type
    >>> check_answer([["Michaels", "[f()]"]], ["Michael"], "prompt").error_type
    'agentic:answer_not_found'
    """
    if not isinstance(output, list) or len(output) != 1:
        return AgenticResult(
            error_type="agentic:inference_error", reason=say("There is no conversation of one turn to be judged.")
        )
    if not isinstance(output[0], list | str | dict):  # upstream breaks off
        return AgenticResult(error_type="crash:TypeError", reason=say("The turn is no list of steps."))
    messages = [step for step in output[0] if not executable_or_none(step, mode)]
    if not messages or not messages[-1]:
        reason = say("The last message is empty.") if messages else say("There is no message besides calls.")
        return AgenticResult(error_type="agentic:no_last_message", reason=reason)
    message = _as_text(messages[-1])
    said = standardise(message)
    if any(re.search(rf"\b{re.escape(standardise(answer))}\b", said) for answer in answers):
        return AgenticResult(message=message)
    more = "…" if len(answers) > _MOST_LISTED else ""
    reason = say(
        "The last message holds none of the accepted answers, as whole words: {answers}.",
        answers=", ".join(f"'{clipped(answer)}'" for answer in answers[:_MOST_LISTED]) + more,
    )
    return AgenticResult(error_type="agentic:answer_not_found", message=message, reason=reason)


def standardise(text: str) -> str:
    """Normalise a text for comparison: lower case, without some punctuation; spaces are kept.

    >>> standardise("Jean-Luc O'Neil (b. 1,940)")
    'jeanluc o"neil b 1940'
    """
    return _IGNORED.sub("", text).lower().replace("'", '"')


def _as_text(message: object) -> str:
    if isinstance(message, list):
        message = message[0]
    return message if isinstance(message, str) else str(message)
