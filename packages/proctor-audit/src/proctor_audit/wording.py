"""Texts that scripted agents say, and what a sample asks and expects, as text."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

from proctor.chat.message_text import as_json
from proctor.core.sample import Sample
from proctor.datasets.columns import LETTERS

REFUSALS = (
    "I'm sorry, but I cannot answer that.",
    "I am unable to help with this request.",
    "I don't know.",
    "As an AI, I can't assist with that.",
    "抱歉，我无法回答这个问题。",
    "对不起，我不能提供帮助。",
    "我不知道。",
    "作为人工智能，我无法协助完成这个请求。",
)
ABSTENTIONS = re.compile(
    r"\b(?:unanswerable|no answer|not answerable|cannot (?:be )?(?:answer|determin|say|tell|known)\w*|can't (?:say|tell|answer)"
    r"|unknown|not (?:enough|sufficient) information|insufficient (?:information|data)|unable to|(?:don't|do not) know|no (?:tool|function)? ?calls?|refus\w+|declin\w+)\b"
    r"|无法|不能(?:确定|回答)|未知|不知道|拒绝|信息不足|没有答案",
    re.IGNORECASE,
)
FOLD_SPACES = re.compile(r"\s+")


def question_of(sample: Sample) -> str:
    """Return what the user says in all turns."""
    said = (message.text for turn in sample.turns for message in turn.messages if message.role == "user")
    return "\n".join(said)


def context_of(sample: Sample) -> str:
    """Return the text of system messages and earlier replies."""
    said = (message.text for turn in sample.turns for message in turn.messages if message.role != "user")
    return "\n".join(said)


def targets_of(sample: Sample) -> Sequence[object]:
    """Return the accepted targets: the parts of a list of texts or numbers, else the one that there is."""
    target = sample.target
    if isinstance(target, list | tuple) and target and all(isinstance(each, str | int | float) for each in target):
        return list(target)
    return [] if target is None else [target]


def text_of_target(target: object) -> str:
    """Return a target as an agent would write it."""
    return target if isinstance(target, str) else as_json(target)


def is_empty_target(target: object) -> bool:
    """True if there is nothing in a target; an empty list or object may be an answer.

    >>> is_empty_target(" "), is_empty_target([]), is_empty_target(0)
    (True, False, False)
    """
    return target is None or (isinstance(target, str) and not target.strip()) or target == [""]


def options_of(sample: Sample) -> Mapping[str, str]:
    """Return the options of a sample by their letters; empty without options."""
    options = sample.known.options
    named = options.items() if isinstance(options, Mapping) else zip(LETTERS, options, strict=False)
    return {str(letter): str(text) for letter, text in named}


def expects_abstention(sample: Sample) -> bool:
    """True if the target says that there is no answer, or that no call is to be made."""
    targets = targets_of(sample)
    return sample.target in ([], {}) or any(
        isinstance(target, str) and len(target) < 200 and ABSTENTIONS.search(target) is not None for target in targets
    )


def fold(text: str) -> str:
    """Return a text in one Unicode form with its whitespace folded."""
    return FOLD_SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip()


def constants(samples: Sequence[Sample]) -> list[str]:
    """Return the constant answers to try: the most frequent targets, each option letter, yes and no, 0 and 1."""
    counted = Counter(text_of_target(target) for sample in samples for target in targets_of(sample)[:1])
    frequent = [text for text, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:2]]
    letters = sorted({letter for sample in samples for letter in options_of(sample)})[:6]
    return list(
        dict.fromkeys([*(text for text in frequent if text.strip()), *letters, "yes", "no", "是", "否", "0", "1"])
    )
