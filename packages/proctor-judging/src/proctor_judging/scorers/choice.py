"""Compare the options an agent chose with the right ones: `AC`, `A、C`, "The answer is AC", `选B`, `\\boxed{B}`.

The target is the letters (`B`, `AC`, `A,C`, or a list). `meta["choice"]` may hold options, see `ChoiceOptions`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from proctor.config import converted
from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.scorers.targets import arguable
from proctor_judging.matching.cascade import match
from proctor_judging.matching.claims import claimed_forms
from proctor_judging.matching.denials import ALTERNATIVES, claims_nothing
from proctor_judging.matching.extract import final_answer
from proctor_judging.matching.marked_answers import half_width
from proctor_judging.matching.option_letters import (
    ChosenLetters,
    claimed_by_text,
    may_hold,
    nearest_option,
    options_in,
    read_choice,
    with_letters,
    without_texts,
)
from proctor_judging.matching.option_wording import letters_on_condition, without_conditions
from proctor_judging.matching.parts import holds_part
from proctor_judging.matching.question_words import echo, interrogative
from proctor_judging.matching.text import tidy, without_gaps

DEFAULT_LETTERS = "ABCDEFGH"
ALL_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
GLOSS = re.compile(r"[\s)*”\"]*(?:[(（–—-]|[,，]\s?(?:because|since|as|which|who|因为|由于|它)|$)")
LONGEST_REPLY = 20_000  # characters in which the texts of options are looked for


class ChoiceOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options in `meta["choice"]`.

    Attributes:
        letters: the options there are; default those of the sample, else A to H, or further where a reply names no other.
        wrong: in `choice:partial`, a wrong option takes one point away, makes all zero, or costs nothing.
        min_correct: in `choice:partial`, a smaller share than this is 0.
    """

    letters: str = ""
    wrong: Literal["subtract", "zero", "ignore"] = "subtract"
    min_correct: float = 0.0


class _Compared(msgspec.Struct, frozen=True):
    options: ChoiceOptions
    right: str
    chosen: str
    readings: tuple[str, ...]


def _equivalents(sample: Sample) -> Iterator[tuple[str, str]]:
    """Yield the right options in brackets, in a sentence, and in reverse order."""
    letters = _letters(sample)
    if letters:
        yield "brackets", f"({letters})"
        yield "sentence", f"The answer is {letters}."
    if len(letters) > 1:
        yield "order", "、".join(reversed(letters))


def _opposites(sample: Sample) -> Iterator[tuple[str, str]]:
    """Yield a wrong option, one more than the right ones, and one less."""
    letters = _letters(sample)
    other = next(
        (letter for letter in DEFAULT_LETTERS[: max(2, len(sample.known.options))] if letter not in letters), ""
    )
    if letters and other:
        yield "other", other
        yield "one-more", letters + other
    if len(letters) > 1:
        yield "one-less", letters[1:]


def _letters(sample: Sample) -> str:
    """Return a target that is written as letters of the usual ones; "" for any other."""
    target = sample.target
    return target if isinstance(target, str) and target and set(target) <= set(DEFAULT_LETTERS) else ""


@scorer(version="8", equivalents=_equivalents, opposites=_opposites)
def choice(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Right when exactly the right options are chosen, in any order.

    >>> choice(Sample.ask("q", "Which?", target="AC"), Trajectory.of("答案是 C、A")).points
    1
    """
    found = _compared(sample, trajectory)
    if isinstance(found, Unscored):
        return found
    right = [set(letters) == set(found.right) for letters in found.readings]
    if any(right) and not all(right):
        return _arguable(found)
    return _score(found, int(all(right) and bool(right)), 1)


@scorer(version="8")
def partial(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """A point for each right option chosen; a wrong one takes one away (or more, by `meta`).

    >>> partial(Sample.ask("q", "Which?", target="ABC"), Trajectory.of("A, B and D")).points
    1
    """
    found = _compared(sample, trajectory)
    if isinstance(found, Unscored):
        return found
    if len(found.readings) > 1 and any(set(letters) & set(found.right) for letters in found.readings):
        return _arguable(found)
    hits = len(set(found.chosen) & set(found.right))
    misses = len(set(found.chosen) - set(found.right))
    if misses and found.options.wrong != "ignore":
        hits = 0 if found.options.wrong == "zero" else max(hits - misses, 0)
    if hits < found.options.min_correct * len(found.right):
        hits = 0
    return _score(found, hits, len(found.right))


def _compared(sample: Sample, trajectory: Trajectory) -> _Compared | Unscored:
    options = converted(sample.meta.get("choice") or {}, ChoiceOptions, "choice")
    target = sample.target
    text = ",".join(map(str, target)) if isinstance(target, list | tuple) else str(target if target is not None else "")
    right = _letters_of(text)
    if right is None:
        reason = say("The target '{target}' is no list of option letters.", target=text)
        return Unscored(why="not_applicable", reason=reason)
    claims = read_claims(trajectory.answer, sample.question, options.letters, sample.known.options)
    return _Compared(options, right, claims.readings[0] if claims.readings else "", claims.readings)


class OptionClaims(msgspec.Struct, frozen=True):
    """The options that a reply chooses: no reading, one, or several where the reply leaves open which is meant; '' is no option."""

    readings: tuple[str, ...] = ()


def read_claims(reply: str, question: str = "", letters: str = "", options: object = None) -> OptionClaims:
    """Read which options a reply chooses, by their letters or their texts; `options` are those of the sample, by letter or in order.

    >>> read_claims("The answer can't be B."), read_claims("It is Lyon, not Nice.", options=["Paris", "Lyon", "Nice"])
    (OptionClaims(readings=()), OptionClaims(readings=('B',)))
    >>> read_claims("Perhaps B.")
    OptionClaims(readings=('B', ''))
    """
    reply = without_gaps(reply)
    texts = _texts_of(options) or options_in(question)
    known = _letters_of(letters) or "".join(texts) or ""
    if (exact := _equal_text(reply, texts)) is not None:
        return OptionClaims((exact,))
    bare = without_texts(half_width(reply[-LONGEST_REPLY:]), texts) if texts else reply
    reading = read_choice(bare, known or DEFAULT_LETTERS, question)
    if reading.chosen is None and not reading.guessed and not known:
        further = read_choice(reply, ALL_LETTERS, question)
        reading = further if list(further.chosen or "") == sorted(further.chosen or "") else reading
    if reading.chosen is None and texts:
        reading = _read_texts(reply, known, texts, question, denied=reading.denied) or reading
    elif reading.chosen is not None and (other := _text_after(reply, reading.chosen, texts, question)) is not None:
        return OptionClaims((reading.chosen, other))
    if reading.chosen is not None:
        others = ""
        if not reading.marked:
            others = reading.others or _named_by_text(reply, reading.chosen, known, texts, question)
        if others and texts and (claimed := claimed_by_text(reply, known, texts, question)):
            return OptionClaims((claimed,))
        return OptionClaims((reading.chosen, *others, "") if others else (reading.chosen,))
    if reading.guessed:
        return OptionClaims((reading.guessed, ""))
    conditional = letters_on_condition(with_letters(reply[-LONGEST_REPLY:], texts))
    hinted = conditional or _hinted(reply, texts, question, denied=reading.denied)
    return OptionClaims((*hinted, "") if hinted else ())


def _named_by_text(reply: str, chosen: str, letters: str, texts: Mapping[str, str], question: str) -> str:
    """Return the options that a reply chooses, or names as well, where their texts are read as their letters."""
    if not texts:
        return ""
    reading = read_choice(with_letters(reply[-LONGEST_REPLY:], texts), letters, question)
    return "".join(letter for letter in (reading.chosen or "") + reading.others if letter not in chosen)


def _hinted(reply: str, texts: Mapping[str, str], question: str, *, denied: str) -> list[str]:
    """Return the options that a reply without a choice may mean, as it has a part of their texts."""
    if ALTERNATIVES.search(reply) is not None or claims_nothing(reply):
        return []
    return [letter for letter, text in texts.items() if letter not in denied and holds_part(reply, text, question)]


def _texts_of(options: object) -> dict[str, str]:
    """Return the texts of a sample's options by their letters."""
    if isinstance(options, list | tuple):
        options = dict(zip(ALL_LETTERS, options, strict=False))
    if not isinstance(options, Mapping):
        return {}
    return {
        letter: str(text).rstrip(" .。;；,，") or str(text)
        for letter, text in options.items()
        if isinstance(letter, str) and letter.isalpha() and len(letter) == 1
    }


def _equal_text(reply: str, texts: Mapping[str, str]) -> str | None:
    """Return the letter of the one option whose text, or last name, is the whole answer of a reply."""
    given = final_answer(reply) if texts else None
    if given is None:
        return None
    said = tidy(given).casefold()
    equal = [letter for letter, text in texts.items() if text.strip() and said == tidy(text).casefold()]
    named = [letter for letter, text in texts.items() if text.istitle() and tidy(text).casefold().endswith(f" {said}")]
    letters = equal or named
    return letters[0] if len(letters) == 1 else None


def _read_texts(
    reply: str, letters: str, texts: Mapping[str, str], question: str, *, denied: str
) -> ChosenLetters | None:
    """Return what a reply chooses that names the options by their texts; None if it does not."""
    given = final_answer(reply)
    if given is None:
        return None
    lettered = without_conditions(with_letters(reply[-LONGEST_REPLY:].replace("’", "'"), texts), question)
    reading = read_choice(lettered, letters, question)
    if reading.chosen is None and not reading.guessed and (nearest := nearest_option(lettered, letters, question)):
        reading = ChosenLetters(nearest, denied=reading.denied)
    if reading.chosen is None:
        forms = (given, *claimed_forms(given, question))
        chosen = [letter for letter, text in texts.items() if text.strip() and _is_in(forms, text)]
        reading = (
            ChosenLetters(chosen[0], denied=reading.denied) if len(chosen) == 1 and not reading.guessed else reading
        )
    return None if set(reading.chosen or "") & set(denied + reading.denied) else reading


def _text_after(reply: str, chosen: str, texts: Mapping[str, str], question: str) -> str | None:
    """Return the other option whose text follows the chosen letter: `A. Lyon`, where Lyon is B; not `A. Lyon is a city, too`."""
    for letter, text in texts.items():
        if (
            letter != chosen
            and len(chosen) == 1
            and len(text) > 1
            and texts.get(chosen, "").casefold() not in text.casefold()
            and may_hold(reply, text.strip())
        ):
            pattern = rf"(?<![A-Za-z]){chosen}[.、:：)\]*]{{1,3}}\s?[(（]?{re.escape(text.strip())}(?!\w)(?P<rest>[^.;。；\n]*)"
            after = re.search(pattern, reply[-LONGEST_REPLY:], re.IGNORECASE)
            if after is not None and not _is_remark(after["rest"], question):
                return letter
    return None


def _is_remark(rest: str, question: str) -> bool:
    """True if the words after an option's text make a sentence that is not about the question."""
    asked = echo(interrogative(question))
    said = echo(rest) if GLOSS.match(rest) is None else set()
    return bool(said) and len(asked & said) * 2 < len(asked)


def _is_in(forms: Iterable[str], text: str) -> bool:
    return any(match(form, text).right for form in forms)


def _letters_of(text: str) -> str | None:
    """Return the letters of a list such as `A,C`, `AC` or `ac`; None for anything else, such as a word."""
    groups = [group for group in re.split(r"[ ,;、\n\t]+", half_width(text)) if group]
    if not groups or not all(map(_are_letters, groups)):
        return None
    return "".join(sorted(set("".join(groups).upper())))


def _are_letters(group: str) -> bool:
    if not (group.isascii() and group.isalpha() and len(set(group)) == len(group)):
        return False
    return group.isupper() or list(group) == sorted(group)


def _arguable(found: _Compared) -> Unscored:
    return arguable([letters or "-" for letters in found.readings])


def _score(found: _Compared, points: float, out_of: int) -> Score:
    if not found.chosen:
        return Score(points=0, out_of=out_of, reason=say("No option could be found in the reply."))
    reason = say("Chosen {chosen}, right {right}.", chosen=found.chosen, right=found.right)
    details = {
        "missed": "".join(sorted(set(found.right) - set(found.chosen))),
        "wrong": "".join(sorted(set(found.chosen) - set(found.right))),
    }
    return Score(points=points, out_of=out_of, answer=found.chosen, reason=reason, details=details)


PART = ScorerPart(scorer=choice, others=(partial,), options=ChoiceOptions)
