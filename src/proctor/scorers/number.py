"""A number or a quantity, within a tolerance; for replies that wrap it in words."""

import re

from proctor.answer_matching.amounts import the_amount, without_unit
from proctor.answer_matching.extract import final_answer
from proctor.answer_matching.numbers import read_number
from proctor.answer_matching.quantities import read_quantity
from proctor.answer_matching.replies import match_asked
from proctor.answer_matching.syntax import read_tree
from proctor.answer_matching.text import tidy
from proctor.answer_matching.unit_table import read_unit
from proctor.answer_matching.verdict import AnswerOptions, Match, Options
from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.scorers._texts import no_target, targets_of
from proctor.scorers.answer import VERSION, undecided

__all__ = ["Options", "number", "the_number"]
NUMERIC_RULES = ("quasi exact", "numeric", "units", "mathematics")
LONGEST = 2_000
SEVERAL = frozenset(["or", "±", "set", "tuple", "union", "empty", "relation", "∈"])


@scorer(version=VERSION)
def number(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Right when the answer is the target's number, in any unit of the same kind.

    `sample.meta` may hold `tolerance` (absolute, in the unit of the target), `relative_tolerance`, and `unit` for numbers
    that stand alone. Of a reply with words the sentence that answers must hold exactly one number.

    >>> sample = Sample.ask("d", "How far?", target="1.5 km", meta={"tolerance": 0.01})
    >>> number(sample, Trajectory.of("It is about 1504 m away.")).points
    1
    """
    targets = targets_of(sample)
    if not targets:
        return no_target()
    given = final_answer(trajectory.answer) or trajectory.answer
    if given[-1:] == "!" and given != trajectory.answer.strip() and not any("!" in target for target in targets):
        given = given.rstrip("!")  # The answer is 42!
    options = AnswerOptions().of_sample(sample.meta, "number")
    amounts = [(the_number(given, target, sample.question), target) for target in targets]
    if all(found is None for found, _ in amounts):
        reason = say("The answer holds no number, or more than one.")
        return Score(points=0, answer=given, reason=reason, details={"rule": "extraction"})
    verdicts = [
        (_compared(found, target, sample.question, options, alone=found == tidy(given)), found)
        for found, target in amounts
        if found is not None
    ]
    verdict, found = next((one for one in verdicts if one[0].right or one[0].undecided), verdicts[0])
    if verdict.undecided:
        return undecided(verdict)
    right = verdict.right and verdict.rule in NUMERIC_RULES
    return Score(points=right, answer=found, reason=verdict.reason, details={"rule": verdict.rule})


def _compared(found: str, target: str, question: str, options: AnswerOptions, *, alone: bool) -> Match:
    """Return the verdict on an amount; within a sentence its unit is what was counted when neither target nor question name one."""
    verdict = match_asked(found, target, question, options)
    if alone or verdict.right or verdict.rule != "units" or not verdict.ambiguous or options.unit:
        return verdict
    names_unit = any(read_unit(word) is not None for word in re.findall(r"[^\W\d_]{1,20}", question[:LONGEST]))
    return verdict if "%" in found or names_unit else match_asked(without_unit(found), target, question, options)


def the_number(text: str, target: str = "", question: str = "") -> str | None:
    """Return the text itself when it is a number or quantity, else the only one in it with its unit; None without a single one.

    >>> the_number("about 5 km away"), the_number("forty-two"), the_number("5 or 6")
    ('5 km', 'forty-two', None)
    """
    if len(text) <= LONGEST:
        plain = tidy(text)
        if read_number(plain) is not None or read_quantity(plain) is not None or _is_expression(plain):
            return plain
    return the_amount(text, target, question)


def _is_expression(text: str) -> bool:
    """Return True if it is mathematics with one value: no variables, no alternatives, no equation."""
    tree = read_tree(text)
    return tree is not None and not tree.variables() and all(node.op not in SEVERAL for node in tree.nodes())


PART = ScorerPart(scorer=number, options=Options)
