"""Compare the options an agent chose with the right ones: `AC`, `A、C`, "The answer is AC", `选B`, `\\boxed{B}`.

The target is the letters (`B`, `AC`, `A,C`, or a list). `meta["choice"]` may hold options, see `Options`.
"""

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from proctor.answer_matching.cascade import match
from proctor.answer_matching.claims import claimed
from proctor.answer_matching.extract import final_answer
from proctor.answer_matching.marked_answers import half_width
from proctor.answer_matching.option_letters import read_letters
from proctor.config import converted
from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options in `meta["choice"]`.

    Attributes:
        letters: the options there are; default A to H, or further where the target is.
        wrong: in `choice:partial`, a wrong option takes one point away, makes all zero, or costs nothing.
        min_correct: in `choice:partial`, a smaller share than this is 0.
    """

    letters: str = ""
    wrong: Literal["subtract", "zero", "ignore"] = "subtract"
    min_correct: float = 0.0


class _Compared(msgspec.Struct, frozen=True):
    options: Options
    right: str
    chosen: str | None


@scorer(version="2")
def choice(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Right when exactly the right options are chosen, in any order.

    >>> choice(Sample.ask("q", "Which?", target="AC"), Trajectory.of("答案是 C、A")).points
    1
    """
    found = _compared(sample, trajectory)
    if isinstance(found, Unscored):
        return found
    right = found.chosen is not None and set(found.chosen) == set(found.right)
    return _score(found, int(right), 1)


@scorer(version="2")
def partial(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """A point for each right option chosen; a wrong one takes one away (or more, by `meta`).

    >>> partial(Sample.ask("q", "Which?", target="ABC"), Trajectory.of("A, B and D")).points
    1
    """
    found = _compared(sample, trajectory)
    if isinstance(found, Unscored):
        return found
    hits = len(set(found.chosen or "") & set(found.right))
    misses = len(set(found.chosen or "") - set(found.right))
    if misses and found.options.wrong != "ignore":
        hits = 0 if found.options.wrong == "zero" else max(hits - misses, 0)
    if hits < found.options.min_correct * len(found.right):
        hits = 0
    return _score(found, hits, len(found.right))


def _compared(sample: Sample, trajectory: Trajectory) -> _Compared | Unscored:
    options = converted(sample.meta.get("choice") or {}, Options, "choice")
    target = sample.target
    text = ",".join(map(str, target)) if isinstance(target, list | tuple) else str(target if target is not None else "")
    right = _letters_of(text)
    if right is None:
        reason = say("The target '{target}' is no list of option letters.", target=text)
        return Unscored(why="not_applicable", reason=reason)
    letters = _letters_of(options.letters) or "".join(chr(code) for code in range(65, max(72, ord(max(right))) + 1))
    texts = _texts_of(sample.known.options)
    letters = "".join(dict.fromkeys(letters + "".join(texts)))
    chosen = read_letters(trajectory.answer, letters) or _by_text(trajectory.answer, texts, sample.question)
    return _Compared(options, right, chosen)


def _texts_of(options: object) -> dict[str, str]:
    """Return the texts of a sample's options by their letters."""
    if isinstance(options, list | tuple):
        options = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", options, strict=False))
    if not isinstance(options, Mapping):
        return {}
    return {
        letter: str(text)
        for letter, text in options.items()
        if isinstance(letter, str) and letter.isalpha() and len(letter) == 1
    }


def _by_text(reply: str, texts: Mapping[str, str], question: str) -> str | None:
    """Return the letter of the one option whose text a reply gives as its answer."""
    given = final_answer(reply)
    if given is None:
        return None
    chosen = [letter for letter, text in texts.items() if text.strip() and _gives(given, text, question)]
    return chosen[0] if len(chosen) == 1 else None


def _gives(reply: str, text: str, question: str) -> bool:
    if match(reply, text).right:
        return True
    return claimed(reply, text, question, fits=lambda words: match(words, text).right) is not None


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


def _score(found: _Compared, points: float, out_of: int) -> Score:
    if found.chosen is None:
        return Score(points=0, out_of=out_of, reason=say("No option could be found in the reply."))
    reason = say("Chosen {chosen}, right {right}.", chosen=found.chosen, right=found.right)
    details = {
        "missed": "".join(sorted(set(found.right) - set(found.chosen))),
        "wrong": "".join(sorted(set(found.chosen) - set(found.right))),
    }
    return Score(points=points, out_of=out_of, answer=found.chosen, reason=reason, details=details)


PART = ScorerPart(scorer=choice, others=(partial,), options=Options)
