"""Find arguments of expected calls that nobody said: neither the user's script nor an earlier result decides them."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.core.sample import Sample
from proctor_audit.playing import PlayedCall
from proctor_audit.wording import context_of, question_of

SCRIPTS = ("user_scenario", "scenario", "user_script", "conversation_plan")  # `meta` with what a user should say
WORD = re.compile(r"[^\W\d_]{4,}|\d+")
FEWEST = 2  # samples that share a text, so that it is one of a few kinds and no free words
MOST_ALTERNATIVES = 12
Categories = frozenset[tuple[str, str, str]]


def script_of(sample: Sample) -> str:
    """Return what the user of a sample knows or says, and the messages that are there from the start, in small letters."""
    return " ".join([question_of(sample), context_of(sample), *_scripts(sample.meta)]).lower()


def _scripts(value: object, *, inside: bool = False) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _scripts(part, inside=inside or key in SCRIPTS)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _scripts(part, inside=inside)
    elif inside and isinstance(value, str):
        yield value


def categories(plays: Sequence[Sequence[PlayedCall]]) -> Categories:
    """Return the texts of several words that several samples give for an argument, with the names of tool and argument."""
    counts = Counter(
        key
        for calls in plays
        for key in {
            (call.name, name, value)
            for call in calls
            for name, value in call.arguments.items()
            if isinstance(value, str) and " " in value and not any(map(str.isdigit, value))  # an address is no kind
        }
    )
    return frozenset(key for key, count in counts.items() if count >= FEWEST)


def unsaid_number(call: PlayedCall, script: str, results: str) -> Iterator[tuple[str, object]]:
    """Yield the numbers above 1 that stand neither in what was said nor in a result."""
    for name, value in call.arguments.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) > 1:
            digits = re.compile(rf"(?<![\d.]){re.escape(f'{value:g}')}(?![\d])")
            if not digits.search(script.replace(",", "")) and not digits.search(results):
                yield name, value


def unsaid_category(call: PlayedCall, script: str, results: str, known: Categories) -> Iterator[tuple[str, object]]:
    """Yield the texts of a few kinds with a word that neither what was said nor a result holds."""
    said = set(WORD.findall(f"{script} {results.lower()}"))
    for name, value in call.arguments.items():
        is_kind = isinstance(value, str) and (call.name, name, value) in known
        if is_kind and not set(WORD.findall(value.lower())) <= said:
            yield name, value


def undecided_choice(call: PlayedCall, script: str, earlier: Sequence[PlayedCall]) -> Iterator[tuple[str, Any]]:
    """Yield the names of records that have alternatives in an earlier result, where nothing said fits the record."""
    groups = [group for each in earlier for group in _groups(_decoded(each.result))]
    for name, value in call.arguments.items():
        for text in value if isinstance(value, list) else [value]:
            is_named = isinstance(text, str) and not text.isdigit()  # a number says nothing of its record
            of_it = [group for group in groups if is_named and text in group]
            if of_it and text.lower() not in script and not _is_described(text, of_it[0][text], script):
                yield name, text


def _groups(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings of several records by their names."""
    if isinstance(value, Mapping):
        records = [each for each in value.values() if isinstance(each, Mapping)]
        if 1 < len(records) == len(value) <= MOST_ALTERNATIVES:
            yield value
        for part in value.values():
            yield from _groups(part)
    elif isinstance(value, list):
        for part in value:
            yield from _groups(part)


def _is_described(name: str, record: Mapping[str, Any], script: str) -> bool:
    """True if a word of the name, or of a value in the record, was said."""
    words = WORD.findall(" ".join([name, *_scalars(record)]).lower().replace("_", " "))
    return any(re.search(rf"\b{re.escape(word)}\b", script) for word in words if word != "true")


def _scalars(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _scalars(part)
    elif isinstance(value, str | int | float):
        yield str(value)


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
