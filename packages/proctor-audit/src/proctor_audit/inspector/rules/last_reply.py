"""The last reply was cut, or is empty."""

import json
import re
from collections.abc import Iterator, Sequence

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.view import InspectedTrial, TrialEvent
from proctor_judging.matching.patterns import compile_later

DANGLING = compile_later(
    r"(?:\b(?:the|a|an|and|or|of|to|for|with|your|their|its|is|are|was|were|that|which|by|from|at|because|if|but)|[,(\[{:（：，、$€£¥+*=/-]|\*\*\w{0,12})$",
    re.IGNORECASE,
)
OPEN = compile_later(
    r"(?:\b(?:the|a|an|and|or|of|to|for|with|your|their|its|which|by|from|because)|[,(\[{（，、])$", re.IGNORECASE
)
PROSE = 18  # words of a single sentence without an end
ENDS = compile_later(
    r"[.!?。！？…)\]}\"'”’」』》`*~|>:;)）]$|https?://\S+$|\S+@\S+$|[\U0001f300-\U0001faff\u2600-\u27bf]$"
)
SENTENCE_BEFORE = compile_later(r"[.!?:](?:\*\*)?\s|[。！？：\n]")
FENCE = "`" * 3
LEAST = 60  # characters, and a Chinese one counts for three
ITEM = re.compile(r"\s*(?:[-*#|•]|\d+[.)、])")
FULL_STOPS = (".", "!", "?", "。", "！", "？")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
INVISIBLE = "\u200b\u200c\u200d\ufeff\u2060"


@check(
    group="I3",
    cls="proved",
    title=say("The last reply was cut: by the length limit, or by its looks."),
    invalidates="neither",
)
def cut(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """The stop reason is the length limit (proved), or the text ends inside a word, a list or JSON (look).

    Not: short complete ends ("42", "Done").
    """
    reply = trial.last_reply
    if reply is None:
        return
    if trial.stop == "length":
        yield TrialEvent(
            steps=(reply.index,), span=reply.text.rstrip()[-80:], sentence=say("The length limit ended the last reply.")
        )
    elif not reply.has_calls and _ends_inside(reply.text.rstrip(), is_known=trial.stop != ""):
        yield TrialEvent(
            steps=(reply.index,),
            span=reply.text.rstrip()[-80:],
            sentence=say("The last reply ends in the middle."),
            cls="look",
        )


@check(group="I3", cls="proved", title=say("The last reply is empty and makes no call."), invalidates="neither")
def empty_end(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """The last reply is empty and makes no call. Not: short complete ends such as "42"; a reply that the length limit cut."""
    reply = trial.last_reply
    if reply is None or reply.has_calls or reply.has_files or trial.stop == "length":
        return
    if not reply.text.strip().strip(INVISIBLE).strip():
        yield TrialEvent(steps=(reply.index,), span="", sentence=say("The last reply is empty."))


def _ends_inside(text: str, *, is_known: bool) -> bool:
    """True if a text breaks off; where the stop reason is known and says nothing of it, only JSON and code tell."""
    if text.count(FENCE) % 2:
        return True
    if text[:1] in ("{", "["):
        return _is_open_json(text)
    if is_known or len(text) + 2 * len(CHINESE.findall(text)) < LEAST:
        return False
    if OPEN.search(text):
        return True
    if not SENTENCE_BEFORE.search(text):
        return "," in text and len(text.split()) >= PROSE and not ENDS.search(text)
    if DANGLING.search(text) or text.count("**") % 2:
        return True
    last = text.rsplit("\n", 1)[-1]
    if ENDS.search(text) or ITEM.match(last):
        return last.count("(") > last.count(")") or _is_open_item(text.splitlines())
    return (len(last.split()) >= 8 and re.fullmatch(r"[a-zà-ÿ]+", last.split()[-1]) is not None) or len(
        CHINESE.findall(last)
    ) >= 12


def _is_open_item(lines: Sequence[str]) -> bool:
    """True if the last line of a list has no full stop, as all its other entries have."""
    items = [line.rstrip() for line in lines if ITEM.match(line)]
    if len(items) < 2 or items[-1] != lines[-1].rstrip():
        return False
    return all(item[-1] in FULL_STOPS for item in items[:-1]) and not ENDS.search(items[-1]) and " " in items[-1]


def _is_open_json(text: str) -> bool:
    try:
        json.loads(text)
    except RecursionError:
        return False
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated") or error.pos >= len(text.rstrip()) - 1
    return False
