"""The settings of the article on MULTI's assertions, read into a scorer that goes by the type of the question.

    evaluation_settings: {answer_position: end, case_sensitive: false, fuzzy_threshold: 0.8, partial_credit: true}
    single_choice: {strict_mode: true, allow_multiple: false}
    multiple_choice: {penalty_wrong: true, min_correct_ratio: 0.6}
    fill_blank: {alternative_separator: 或, ignore_punctuation: true}
    open_ended: {rouge_type: rouge-l, min_similarity: 0.3}

The article names these keys without saying what they do; what they do here is described in `docs/scorers.md`. A key that is
left out leaves the scorers as they are.
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from proctor.config import converted, unknown_option
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.scorers.lookup import find_scorer
from proctor_judging.matching.marked_answers import without_thoughts
from proctor_judging.matching.option_letters import letter_groups, read_letters
from proctor_judging.scorers import by_type

Position = Literal["start", "end", "middle", "all"]


class _Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class CommonSettings(_Strict, frozen=True, kw_only=True):
    """For all kinds of questions."""

    answer_position: Position | None = None
    case_sensitive: bool = False
    fuzzy_threshold: float = 1.0
    partial_credit: bool = True


class Single(_Strict, frozen=True, kw_only=True):
    """Unless strict, the right option may be one of several chosen, where several are allowed."""

    strict_mode: bool = True
    allow_multiple: bool = False


class Multiple(_Strict, frozen=True, kw_only=True):
    """A wrong option makes all zero, or costs nothing; below a share of the right ones it is 0."""

    penalty_wrong: bool = True
    min_correct_ratio: float = 0.0


class Blanks(_Strict, frozen=True, kw_only=True):
    """The separator of alternatives, and whether punctuation counts."""

    alternative_separator: str = "或"
    ignore_punctuation: bool = False


class OpenSettings(_Strict, frozen=True, kw_only=True):
    """The kind of ROUGE, and the similarity below which the score is 0."""

    rouge_type: Literal["rouge-1", "rouge-2", "rouge-l"] = "rouge-l"
    min_similarity: float = 0.0


class ArticleSettings(_Strict, frozen=True, kw_only=True):
    """All settings of the file."""

    evaluation_settings: CommonSettings = CommonSettings()
    single_choice: Single = Single()
    multiple_choice: Multiple = Multiple()
    fill_blank: Blanks = Blanks()
    open_ended: OpenSettings = OpenSettings()


def read_scorer(values: Mapping[str, object]) -> Scorer:
    """Return the scorer by type that the settings of a file describe.

    Raises:
        BadInput: as `settings`.
    """
    return scorer(settings(values))


def scorer(settings: ArticleSettings) -> Scorer:
    """Return a scorer by type under these settings."""
    common, fill_in = settings.evaluation_settings, settings.fill_blank
    partial = {
        "wrong": "zero" if settings.multiple_choice.penalty_wrong else "ignore",
        "min_correct": settings.multiple_choice.min_correct_ratio,
    }
    filled = {
        "separator": fill_in.alternative_separator,
        "ignore_punctuation": fill_in.ignore_punctuation,
        "case_sensitive": common.case_sensitive,
        "min_similarity": common.fuzzy_threshold,
    }
    opened = {"measure": settings.open_ended.rouge_type, "min_similarity": settings.open_ended.min_similarity}
    lenient = settings.single_choice.allow_multiple and not settings.single_choice.strict_mode
    single = find_scorer("choice:partial", {"wrong": "ignore"}) if lenient else find_scorer("choice")
    multiple = find_scorer("choice:partial", partial)
    scorer_by_type: dict[str, Any] = {
        "choice": _at(common.answer_position, single),
        "choice:partial": _at(common.answer_position, multiple if common.partial_credit else _whole(multiple)),
        "blanks": find_scorer("blanks", filled) if common.partial_credit else _whole(find_scorer("blanks", filled)),
        "open": find_scorer("open", opened),
    }
    types = {kind: value for name, value in scorer_by_type.items() for kind in by_type.USUAL[name]}
    return by_type.make({"types": types})


def letters_at(text: str, position: Position) -> str:
    """Return the option letters at a position of a reply: the first, last or middle (n // 2) that are no part of a word, or all.

    Letters that belong together (`A, C`) are one place; the article in `A dog` is none.

    >>> letters_at("A 还是 B？我选 C", "middle"), letters_at("The answer is C", "start"), letters_at("A, C", "end")
    ('B', 'C', 'AC')
    """
    said = without_thoughts(text)
    groups = letter_groups(said)
    if not groups:
        return read_letters(text) or ""
    match position:
        case "start":
            return groups[0]
        case "end":
            return groups[-1]
        case "middle":
            return groups[len(groups) // 2]
        case "all":
            return "".join(dict.fromkeys("".join(groups)))


def _at(position: Position | None, scorer: Scorer) -> Scorer:
    """Wrap the scorer so that it sees only the text at a position."""
    if position is None:
        return scorer

    def at(sample: Sample, trajectory: Trajectory) -> Any:
        return scorer(sample, Trajectory.of(letters_at(trajectory.answer, position)))

    return at


def _whole(scorer: Scorer) -> Scorer:
    def whole(sample: Sample, trajectory: Trajectory) -> Any:
        score = scorer(sample, trajectory)
        if not isinstance(score, Score):
            return score
        return msgspec.structs.replace(score, points=int(score.points == score.out_of), out_of=1)

    return whole


def settings(values: Mapping[str, Any]) -> ArticleSettings:
    """Return the settings that a file holds.

    Raises:
        BadInput: an unknown key (the nearest one is named), or a value of the wrong type.
    """
    sections = {field.name: field.type for field in msgspec.structs.fields(ArticleSettings)}
    for name, value in values.items():
        if name not in sections:
            raise unknown_option("by_type", str(name), [*sections, "scorers"])
        if not isinstance(value, Mapping):
            raise BadInput("{where}: expected settings with names and values.", where=name)
    return ArticleSettings(**{name: converted(value, sections[name], name) for name, value in values.items()})
