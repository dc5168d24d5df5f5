"""Rubrics: what a judge looks at, on which scale, in TOML; those that come with Proctor are in `rubrics/`.

    scale = [1, 5]
    pass = 3.5
    excellent = 4.5

    [en]
    title = "A competition problem"
    task = "Judge the problem with its answer and solution."

    [[dimensions]]
    name = "correctness"
    weight = 0.4
    [dimensions.en]
    text = "Are answer and solution right?"
    anchors = { 1 = "wrong", 3 = "right answer, gaps in the solution", 5 = "right in every step" }

`en` and `zh` are both optional; a prompt in a missing language falls back to the other.
"""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from proctor import registry
from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.validation import in_words
from proctor.runtime.toml_file import parse_toml

BUNDLED = Path(__file__).parent / "rubrics"
SUFFIX = ".toml"
MOST_BYTES = 200_000
NAME = re.compile(r"[^\W\d][\w-]{0,59}")
TAKEN = ("average", "score", "points", "pass_rate", "excellent_rate", "unknown_rate", "judge_variance", "comment")
Lang = Literal["en", "zh"]


class DimensionWords(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The question of a dimension in one language; `anchors` describe points of the scale."""

    text: str
    title: str = ""
    anchors: Mapping[str, str] = {}


class RubricHeading(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The role and the task of the judge, in one language."""

    task: str
    title: str = ""


class RubricDimension(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A dimension to judge; without weights all count the same, and one of weight 0 is reported but not counted."""

    name: str
    weight: float | None = None
    en: DimensionWords | None = None
    zh: DimensionWords | None = None

    def words(self, lang: Lang) -> DimensionWords:
        """Return its texts in a language, else in the other."""
        words = (self.zh or self.en) if lang == "zh" else (self.en or self.zh)
        assert words is not None
        return words


class RubricExample(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A judged item that shows the judge what points mean; `lang` if it is for prompts in one language only."""

    text: str
    scores: Mapping[str, float | str]
    comment: str = ""
    lang: Lang | None = None


class JudgeRubric(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"passing": "pass"}):
    """The criteria of a judge: dimensions, scales, wording and examples.

    Attributes:
        scale: the lowest and the highest points.
        passing, excellent: means on the scale from which an item passes, or is excellent.
        judges: "answer" judges an answer to a question, "item" all fields of an item, question and solution too.
        unknown: what becomes of an item when the judge cannot tell a dimension: no score, or the mean of the others.
    """

    dimensions: tuple[RubricDimension, ...]
    scale: tuple[float, float] = (1, 5)
    passing: float | None = None
    excellent: float | None = None
    judges: Literal["answer", "item"] = "answer"
    unknown: Literal["unscored", "left_out"] = "unscored"
    en: RubricHeading | None = None
    zh: RubricHeading | None = None
    examples: tuple[RubricExample, ...] = ()
    name: str = ""

    @property
    def low(self) -> float:
        return self.scale[0]

    @property
    def high(self) -> float:
        return self.scale[1]

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each dimension; they sum to 1."""
        given = {dimension.name: 1.0 if dimension.weight is None else dimension.weight for dimension in self.dimensions}
        total = math.fsum(given.values())
        return {name: weight / total for name, weight in given.items()}

    @property
    def whole_points(self) -> list[int]:
        """Every point of a scale with few whole numbers, so that a schema can list them; empty for others."""
        low, high = self.scale
        return (
            list(range(int(low), int(high) + 1)) if low == int(low) and high == int(high) and high - low <= 20 else []
        )

    def heading(self, lang: Lang) -> RubricHeading:
        """Return title and task in a language, else in the other."""
        heading = (self.zh or self.en) if lang == "zh" else (self.en or self.zh)
        assert heading is not None
        return heading

    def has(self, lang: Lang) -> bool:
        """True if the rubric has texts for a language."""
        return getattr(self, lang) is not None

    @property
    def digest(self) -> str:
        return digest(self)


def rubric(name: str, folder: Path | None = None) -> JudgeRubric:
    """Return a bundled rubric by its name, or the one in a file (relative to `folder`).

    Raises:
        BadInput: no such rubric, no TOML, or a rubric that cannot be judged by; names the position in the file.
    """
    if name.endswith(SUFFIX):
        path = (folder or Path()) / Path(name).expanduser()
    elif name in known():
        path = BUNDLED / f"{name}{SUFFIX}"
    else:
        raise registry.unknown("rubric", name, known(), paths=False)
    return _checked(_decoded(_table(path), path), path)


def known() -> list[str]:
    return sorted(path.stem for path in BUNDLED.glob(f"*{SUFFIX}"))


def made(**values: Any) -> JudgeRubric:
    """Make a rubric from Python values, with the same checks; `passing` is `pass` in a file, and `name` its name."""
    if "passing" in values:
        values["pass"] = values.pop("passing")
    where = Path(str(values.get("name") or "rubric"))
    return _checked(_decoded(values, where), where)


def _table(path: Path) -> Mapping[str, object]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput("The rubric {path} cannot be read: {error}.", path=path, error=error.strerror or error) from None
    return parse_toml(data, path, most_bytes=MOST_BYTES)


def _decoded(table: Mapping[str, object], path: Path) -> JudgeRubric:
    try:
        return msgspec.convert({"name": path.stem, **table}, JudgeRubric)
    except msgspec.ValidationError as error:
        raise BadInput("{path}: {error}.", path=path, error=in_words(error)) from None


def _checked(one: JudgeRubric, path: Path) -> JudgeRubric:
    low, high = one.scale
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise BadInput(
            "{path}: the scale goes from {low} to {high}; the lowest points come first, and the highest are more.",
            path=path,
            low=f"{low:g}",
            high=f"{high:g}",
        )
    for name, value in (("pass", one.passing), ("excellent", one.excellent)):
        if value is not None:
            _on_scale(value, one, f"$.{name}", path)
    if one.passing is not None and one.excellent is not None and one.passing > one.excellent:
        raise BadInput("{path}: 'excellent' is below 'pass'.", path=path)
    if not one.dimensions:
        raise BadInput("{path}: a rubric needs at least one dimension.", path=path)
    if one.en is None and one.zh is None:
        raise BadInput("{path}: {at} is missing: a rubric needs words in English or Chinese.", path=path, at="$.en")
    _check_names(one, path)
    _check_weights(one, path)
    for number, dimension in enumerate(one.dimensions):
        at = f"$.dimensions[{number}]"
        if dimension.en is None and dimension.zh is None:
            raise BadInput(
                "{path}: {at} is missing: a rubric needs words in English or Chinese.", path=path, at=f"{at}.en"
            )
        for lang, words in (("en", dimension.en), ("zh", dimension.zh)):
            for anchor in words.anchors if words is not None else ():
                _on_scale(anchor, one, f"{at}.{lang}.anchors", path)
    names = {dimension.name for dimension in one.dimensions}
    for number, example in enumerate(one.examples):
        at = f"$.examples[{number}].scores"
        if set(example.scores) != names:
            raise BadInput(
                "{path}: {at} has to name every dimension: {known}.", path=path, at=at, known=", ".join(names)
            )
        for given in example.scores.values():
            if given != "unknown":
                _on_scale(given, one, at, path)
    return one


def _check_names(one: JudgeRubric, path: Path) -> None:
    seen: set[str] = set()
    for dimension in one.dimensions:
        name = dimension.name
        if not NAME.fullmatch(name) or name.casefold() in TAKEN:
            raise BadInput(
                "{path}: '{name}' cannot be the name of a dimension: it begins with a letter, holds letters, digits, '_' and '-', and is none of {taken}.",
                path=path,
                name=name,
                taken=", ".join(TAKEN),
            )
        if name.casefold() in seen:
            raise BadInput("{path}: two dimensions are called '{name}'.", path=path, name=name)
        seen.add(name.casefold())


def _check_weights(one: JudgeRubric, path: Path) -> None:
    given = [dimension.weight for dimension in one.dimensions if dimension.weight is not None]
    if not given:
        return
    if len(given) < len(one.dimensions):
        raise BadInput("{path}: either every dimension has a weight, or none.", path=path)
    total = math.fsum(given)
    if any(not 0 <= weight < math.inf for weight in given) or not (
        math.isclose(total, 1, abs_tol=1e-6) or math.isclose(total, 100, abs_tol=1e-4)
    ):
        raise BadInput(
            "{path}: the weights of the dimensions sum to {total}; they are 0 or more, and sum to 1 (or to 100).",
            path=path,
            total=f"{total:g}",
        )


def _on_scale(value: float | str, one: JudgeRubric, at: str, path: Path) -> None:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not one.low <= number <= one.high:
        raise BadInput(
            "{path}: {at}: {value} does not lie on the scale from {low} to {high}.",
            path=path,
            at=at,
            value=value,
            low=f"{one.low:g}",
            high=f"{one.high:g}",
        )
