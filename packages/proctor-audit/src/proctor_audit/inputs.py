"""Compare what samples ask: equal inputs by a digest, so that a hundred thousand samples take seconds."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.digest import digest
from proctor.core.sample import Message, Sample, Text
from proctor.core.sentence import Sentence
from proctor.core.task import Task
from proctor_audit.audit import Audit
from proctor_audit.findings import AuditFinding, FindingClass
from proctor_audit.wording import fold, options_of, targets_of, text_of_target

WORD = re.compile(
    r"\d+(?:[.,:/]\d+)*|[^\W\d_㐀-鿿]+(?:'[^\W\d_]+)?|[㐀-鿿]|[^\w\s.,:;!?…'\"`‘’“”«»‹›„‚。，、；：！？《》〈〉「」『』【】·•–—―‐‑\u200b-\u200f\u2060\ufe0e\ufe0f\ufeff]|_"
)  # numbers, words, and all signs but punctuation
EMPTY_WORDS = frozenset(("a", "an", "the", "please", "kindly", "-"))
FILLERS = [re.compile(text) for text in ("请问", "请", "呢", "吗", "啊", "呀", "(?<=[^目])的(?=[?？。]|$)")]
CONTRACTIONS = [
    (re.compile(written), meant)
    for written, meant in (
        (r"\bcan't\b|\bcannot\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"\b(what|who|where|when|how|that|it|there|here|he|she)'s\b", r"\1 is"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"\bi'm\b", "i am"),
    )
]
# what else decides what a sample asks
SHOWN_META = ("files", "functions", "state", "start", "session", "scenario", "after", "environment", "context")


def equal_inputs(audit: Audit, *, with_order: bool = True) -> list[Sequence[Sample]]:
    """Return the groups of two samples and more that ask the same.

    Args:
        with_order: options in another order are another question.
    """
    groups: dict[str, list[Sample]] = {}
    for sample in audit.samples:
        key = question_key(audit.task, sample, with_order=with_order)
        if key is not None:
            groups.setdefault(key, []).append(sample)
    return [group for group in groups.values() if len(group) > 1]


def question_key(task: Task, sample: Sample, *, with_order: bool) -> str | None:
    """Return what decides what a sample asks; None where a simulated user begins with what it knows."""
    if not sample.turns and not any(key in sample.meta for key in SHOWN_META):
        return None
    return digest([input_digest(sample, with_order=with_order), _read_by_code(task, sample)])


def _read_by_code(task: Task, sample: Sample) -> Mapping[str, object]:
    """Return what code of the task may read to decide what the agent gets: anything in `meta` but the options."""
    if task.present is None and task.environment is None and task.user is None:
        return {}
    read: Mapping[str, Any] = msgspec.to_builtins({**sample.meta, "options": None}, enc_hook=repr)
    return read


def input_digest(sample: Sample, *, with_order: bool = True) -> str:
    """Return a digest of all that the agent gets, with whitespace folded: messages, files, options, tools, state."""
    options = [fold(text) for text in options_of(sample).values()]
    asked = [[_message(message, sample, with_order=with_order) for message in turn.messages] for turn in sample.turns]
    return digest([asked, options if with_order else sorted(options), *_offered(sample)])


def _offered(sample: Sample) -> Sequence[object]:
    extra = {key: sample.meta[key] for key in SHOWN_META if key in sample.meta}
    return [[msgspec.to_builtins(turn.tools) for turn in sample.turns], extra]


def _message(message: Message, sample: Sample, *, with_order: bool) -> Sequence[Any]:
    text = message.text
    if not with_order:
        for letter, option in options_of(sample).items():  # which are compared apart
            text = text.replace(f"{letter}. {option}", "")
    return [message.role, fold(text), _other_parts(message)]


def _other_parts(message: Message) -> Sequence[object]:
    return [msgspec.to_builtins(part) for part in message.parts if not isinstance(part, Text)]


def near_key(sample: Sample) -> str:
    """Return what a sample asks without what carries no meaning; numbers, names, negations and symbols of mathematics stay.

    >>> ask = lambda text: near_key(Sample.ask("a", text))
    >>> ask("What is the capital of Peru?") == ask("what's the capital of Peru ?"), ask("Is 3 > 2?") == ask("Is 3 < 2?")
    (True, False)
    >>> ask("Is x ∈ A?") == ask("Is x ∉ A?"), ask("Is 😀 sad?") == ask("Is 😢 sad?")
    (False, False)
    """
    messages = [message for turn in sample.turns for message in turn.messages]
    said = [[message.role, near_words(message.text)] for message in messages]
    others = [part for message in messages for part in _other_parts(message)]
    return digest([said, others, *_offered(sample)])


def near_words(text: str) -> list[str]:
    """Return the words of a text that carry meaning, in their order."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    for written, meant in CONTRACTIONS:
        folded = written.sub(meant, folded)
    for phrase in FILLERS:
        folded = phrase.sub("", folded)
    return [word for word in WORD.findall(folded) if word not in EMPTY_WORDS]


def target_key(sample: Sample) -> str:
    """Return what a sample expects in a form in which equal ones are equal."""
    references = [msgspec.to_builtins(turn.reference) for turn in sample.turns]
    return digest([sorted(fold(text_of_target(target)) for target in targets_of(sample)), references])


def target_text_key(sample: Sample) -> str:
    """Return the same, with the text of an option in place of its letter."""
    options = options_of(sample)
    if options and isinstance(sample.target, str) and set(sample.target) <= set(options):
        return digest(sorted(fold(options[letter]) for letter in sample.target))
    return target_key(sample)


def pair_finding(
    audit: Audit,
    sentence: Sentence,
    first: Sample,
    second: Sample,
    cls: FindingClass | None = None,
    witness: Mapping[str, object] = {},
) -> AuditFinding:
    """Return a finding about two samples, whose witness shows both as they are compared."""
    pair = [_shown(sample) for sample in (first, second)]
    return audit.found(sentence, first, second, scope="pair", cls=cls, witness={"pair": pair, **witness})


def _shown(sample: Sample) -> Mapping[str, Any]:
    messages = [[message.role, message.text] for turn in sample.turns for message in turn.messages]
    references = [msgspec.to_builtins(turn.reference) for turn in sample.turns]
    return {"sample": sample.id, "messages": messages, "target": sample.target, "references": references}
