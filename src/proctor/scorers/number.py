"""A number or a quantity, within a tolerance; for replies that wrap it in words."""

import re

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.scorers._texts import no_target, targets_of
from proctor.scorers.answer import final_answer, match
from proctor.scorers.answer.numbers import read_number
from proctor.scorers.answer.quantities import read_quantity
from proctor.scorers.answer.syntax import read_tree
from proctor.scorers.answer.text import tidy
from proctor.scorers.answer.verdict import AnswerOptions, Options

__all__ = ["Options", "number", "the_number"]
NUMERIC_RULES = ("quasi exact", "numeric", "units", "mathematics")
LONGEST = 2_000
SEVERAL = frozenset(["or", "±", "set", "tuple", "union", "empty", "relation", "∈"])
NUMERAL = re.compile(r"(?<![\w.,])[-+]?[$€£¥]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?(?:/\d+)?%?")
MOST_WORDS_OF_A_UNIT = 4


def number(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Right when the answer is the target's number, in any unit of the same kind.

    `sample.meta` may hold `tolerance` (absolute, in the unit of the target), `relative_tolerance`, and `unit` for numbers
    that stand alone. A reply with words must hold exactly one number.

    >>> sample = Sample.ask("d", "How far?", target="1.5 km", meta={"tolerance": 0.01})
    >>> number(sample, Trajectory.of("It is about 1504 m away.")).points
    1
    """
    targets = targets_of(sample)
    if not targets:
        return no_target()
    given = final_answer(trajectory.answer)
    found = None if given is None else the_number(given)
    if found is None:
        reason = say("The answer holds no number, or more than one.")
        return Score(points=0, answer=given, reason=reason, details={"rule": "extraction"})
    options = AnswerOptions().of_sample(sample.meta, "number")
    verdicts = [match(found, target, options=options) for target in targets]
    verdict = next((one for one in verdicts if one.right), verdicts[0])
    right = verdict.right and verdict.rule in NUMERIC_RULES
    return Score(points=right, answer=found, reason=verdict.reason, details={"rule": verdict.rule})


number.version = "1"  # type: ignore[attr-defined]


def the_number(text: str) -> str | None:
    """The text itself when it is a number or quantity, else the only one in it with its unit; None without a single one.

    >>> the_number("about 5 km away"), the_number("forty-two"), the_number("5 or 6")
    ('5 km', 'forty-two', None)
    """
    if len(text) > LONGEST:
        return None
    text = tidy(text)
    if read_number(text) is not None or read_quantity(text) is not None or _is_expression(text):
        return text
    places = list(NUMERAL.finditer(text))
    if len(places) != 1:
        return None
    found = places[0]
    words = text[found.end() :].split(" ")
    for count in range(min(len(words), MOST_WORDS_OF_A_UNIT), 0, -1):
        longer = (found[0] + " ".join(words[:count])).rstrip(".,;!?。，")
        if read_quantity(longer) is not None:
            return longer
    return found[0]


def _is_expression(text: str) -> bool:
    """Whether it is mathematics with one value: no variables, no alternatives, no equation."""
    tree = read_tree(text)
    return tree is not None and not tree.variables() and all(node.op not in SEVERAL for node in tree.nodes())
