"""Search the answer with a regular expression: the target is the pattern, or the pattern is an option.

With `extract` the text that the pattern catches (its first group, or all of it) is compared with the target.
A search is ended after two seconds, so that no answer can hold a run up.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.config import converted
from proctor.core.declared import scorer
from proctor.core.errors import BadInput
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import quote, say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.runtime.pattern_search import SECONDS, Caught, TooSlow, Which, checked, search
from proctor.scorers.targets import answer_of, no_target, targets_of


class RegexOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The pattern, and how to search for it.

    pattern: the expression; without it each target is one, and any of them may fit. extract: compare what was
    caught with the target. which: the first or last place where it fits, or the whole answer. ignore_case,
    multiline (^ and $ at each line), dot_all (. takes line breaks): as Python's flags. seconds: when a search
    is given up.
    """

    pattern: str | None = None
    extract: bool = False
    which: Which = "first"
    ignore_case: bool = False
    multiline: bool = False
    dot_all: bool = False
    seconds: float = SECONDS

    @property
    def flags(self) -> int:
        chosen = ((self.ignore_case, re.IGNORECASE), (self.multiline, re.MULTILINE), (self.dot_all, re.DOTALL))
        return int(sum(flag for wanted, flag in chosen if wanted))


@scorer(inline=False)
def regex(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Right when the answer holds what the target describes.

    >>> regex(Sample.ask("a", "When?", target=r"\\b(19|20)\\d\\d\\b"), Trajectory.of("In 1969.")).points
    1
    """
    return _score(sample, trajectory, RegexOptions())


def make(options: Mapping[str, Any]) -> Scorer:
    """Make a scorer with `RegexOptions`.

    Raises:
        BadInput: the pattern cannot be compiled, or there is nothing to extract with.
    """
    chosen = converted(options, RegexOptions, "regex")
    if chosen.pattern is not None:
        checked(chosen.pattern, chosen.flags)
    elif chosen.extract:
        raise BadInput("regex: 'extract' needs a pattern.")

    @scorer(inline=False)  # a slow search must not hold up the event loop
    def regex(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _score(sample, trajectory, chosen)

    return regex


def _score(sample: Sample, trajectory: Trajectory, options: RegexOptions) -> Score | Unscored:
    answer, targets = answer_of(trajectory), targets_of(sample)
    if not targets and (options.pattern is None or options.extract):
        return no_target()
    try:
        if options.pattern is None:
            patterns: Sequence[str] = [checked(target, options.flags) for target in targets]
        else:
            patterns = [options.pattern]
        caught = next((hit for pattern in patterns if (hit := _caught(pattern, answer, options)) is not None), None)
    except BadInput as error:
        return Unscored(why="scorer_failed", reason=error.sentence)
    except TooSlow:
        reason = say(
            "The pattern took more than {seconds} seconds on an answer of {characters} characters.",
            seconds=f"{options.seconds:g}",
            characters=len(answer),
        )
        return Unscored(why="scorer_failed", reason=reason)
    if caught is None:
        reason = say("The answer does not fit the pattern {pattern}.", pattern=" | ".join(patterns))
        return Score(points=0, answer=None, reason=reason, details={"patterns": list(patterns)})
    if options.extract:
        return _compared(caught.text.strip(), targets, options)
    reason = say("The pattern {pattern} caught {caught}.", pattern=" | ".join(patterns), caught=quote(caught.text))
    return Score(points=1, answer=caught.text, reason=reason, details={"patterns": list(patterns)})


def _caught(pattern: str, answer: str, options: RegexOptions) -> Caught | None:
    return search(
        pattern,
        answer,
        flags=options.flags,
        which=options.which,
        group=options.extract,
        seconds=options.seconds,
    )


def _compared(caught: str, targets: Sequence[str], options: RegexOptions) -> Score:
    right = caught in targets or (
        options.ignore_case and caught.casefold() in {target.casefold() for target in targets}
    )
    reason = say("Caught {caught}, expected {target}.", caught=quote(caught), target=" | ".join(targets))
    return Score(points=right, answer=caught, reason=reason, details={"pattern": options.pattern})


PART = ScorerPart(scorer=regex, make=make, options=RegexOptions)
