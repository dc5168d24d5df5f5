"""`EvaluationConfig` and the `Universal…` evaluators: dimensions of one's own, and other names of fields."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor.datasets.formats import READERS
from proctor.datasets.rows import rows
from proctor_compat.hello_agents._judged import Dict, Problem, rename_fields
from proctor_compat.hello_agents._words import tell
from proctor_compat.hello_agents.llm_judge import EXCELLENT, PASS, LLMJudgeEvaluator
from proctor_compat.hello_agents.win_rate import WinRateEvaluator
from proctor_judging.judges.rubric_file import DimensionWords, JudgeRubric, RubricDimension, rubric

TEMPLATES = ("math", "code", "writing", "qa")
STANDARD = ("correctness", "clarity", "completeness")


class EvaluationDimension(msgspec.Struct):
    """One thing to judge, from 1 to `scale`."""

    name: str
    description: str
    scale: int = 5
    prompt_instruction: str | None = None

    def to_dict(self) -> Dict:
        return msgspec.structs.asdict(self)


class EvaluationConfig:
    """Which dimensions to judge: those of a template, some by name, or custom ones."""

    def __init__(self, dimensions: Sequence[EvaluationDimension] | None = None) -> None:
        self.dimensions = list(dimensions) if dimensions is not None else _of_template("math", STANDARD)

    @classmethod
    def load_template(cls, template_name: str) -> "EvaluationConfig":
        """Return the dimensions of math, code, writing or qa.

        Raises:
            BadInput: there is no such template.
        """
        return cls(_of_template(template_name))

    @classmethod
    def from_names(cls, dimension_names: Sequence[str]) -> "EvaluationConfig":
        """Return dimensions by name; one that is not known is judged by its name alone."""
        known = {dimension.name: dimension.description for dimension in _of_template("math")}
        return cls([EvaluationDimension(name, known.get(name, name.replace("_", " "))) for name in dimension_names])

    @classmethod
    def custom(cls, **kwargs: str) -> "EvaluationConfig":
        """Return a configuration with custom dimensions: the name of each, and the question it asks."""
        return cls([EvaluationDimension(name, text) for name, text in kwargs.items()])

    def get_dimension_names(self) -> list[str]:
        return [dimension.name for dimension in self.dimensions]

    def to_dict(self) -> Dict:
        return {
            "dimensions": [dimension.to_dict() for dimension in self.dimensions],
            "num_dimensions": len(self.dimensions),
        }

    def rubrics(self) -> list[JudgeRubric]:
        """Return the dimensions as rubrics, one for each scale.

        Raises:
            BadInput: no dimension, one twice, or a scale below 2.
        """
        names = self.get_dimension_names()
        if not names or len(set(names)) < len(names):
            raise BadInput("Name at least one dimension, and each only once: {names}.", names=", ".join(names) or "-")
        if min(dimension.scale for dimension in self.dimensions) < 2:
            raise BadInput("The scale of a dimension goes from 1 to 2 or more.")
        return [self._rubric(scale) for scale in dict.fromkeys(dimension.scale for dimension in self.dimensions)]

    def _rubric(self, scale: int) -> JudgeRubric:
        return JudgeRubric(
            name="universal",
            dimensions=tuple(_dimension(dimension) for dimension in self.dimensions if dimension.scale == scale),
            scale=(1, scale),
            passing=PASS * scale / 5,
            excellent=EXCELLENT * scale / 5,
            judges="item",
            en=_template("math").en,
            zh=_template("math").zh,
        )


class UniversalDataset:
    """The rows of a file as dicts, with fields renamed.

    Attributes:
        data: what `load` has read; None before.
    """

    def __init__(self, source_config: Mapping[str, object], field_mapping: Mapping[str, str] | None = None) -> None:
        if not source_config.get("path"):
            raise BadInput("source_config needs a 'path'.")
        self.source_config = dict(source_config)
        self.field_mapping = dict(field_mapping or {})
        self.data: list[Dict] | None = None
        self._path = _path(self.source_config)

    def load(self) -> list[Dict]:
        """Read the file: JSON, JSON lines, CSV, TSV, YAML or Parquet.

        Raises:
            BadInput: it cannot be read; names the row.
        """
        self.data = [rename_fields(row.cells, self.field_mapping) for row in rows(self._path)]
        tell(say("✅ Problems loaded: {count} from {path}", count=len(self.data), path=self._path))
        return self.data

    def __len__(self) -> int:
        return len(self._loaded)

    def __getitem__(self, index: int) -> Dict:
        return self._loaded[index]

    def __iter__(self) -> Iterator[Dict]:
        return iter(self._loaded)

    @property
    def _loaded(self) -> list[Dict]:
        return self.data if self.data is not None else self.load()


class UniversalLLMJudgeEvaluator(LLMJudgeEvaluator):
    """`LLMJudgeEvaluator` with custom dimensions and fields."""

    def __init__(
        self,
        llm: object = None,
        judge_model: str | None = None,
        eval_config: EvaluationConfig | None = None,
        field_mapping: Mapping[str, str] | None = None,
        data_format: str = "standard",
    ) -> None:
        self.eval_config = eval_config or EvaluationConfig()
        self.data_format = data_format
        super().__init__(llm, judge_model, rubrics=self.eval_config.rubrics(), field_mapping=field_mapping)


class UniversalWinRateEvaluator(WinRateEvaluator):
    """`WinRateEvaluator` with dimensions and fields of one's own; the rates are on top, too."""

    def __init__(
        self,
        llm: object = None,
        judge_model: str | None = None,
        eval_config: EvaluationConfig | None = None,
        field_mapping: Mapping[str, str] | None = None,
    ) -> None:
        self.eval_config = eval_config or EvaluationConfig()
        without_scales = [
            EvaluationDimension(dimension.name, dimension.description) for dimension in self.eval_config.dimensions
        ]
        criteria = EvaluationConfig(without_scales).rubrics()[0]  # which is better needs no scale
        super().__init__(llm, judge_model, criteria=criteria, field_mapping=field_mapping)

    def evaluate_win_rate(
        self,
        generated_problems: Sequence[Problem],
        reference_problems: Sequence[Problem],
        num_comparisons: int | None = None,
    ) -> Dict:
        """Return what `WinRateEvaluator` does, with the metrics on top too."""
        results = super().evaluate_win_rate(generated_problems, reference_problems, num_comparisons)
        return {**results, **results["metrics"], "dimensions": self.eval_config.get_dimension_names()}


def _of_template(name: str, only: Sequence[str] | None = None) -> list[EvaluationDimension]:
    if name not in TEMPLATES:
        raise BadInput("There is no template '{name}'. Known: {known}.", name=name, known=", ".join(TEMPLATES))
    return [
        EvaluationDimension(dimension.name, dimension.words("en").text)
        for dimension in _template(name).dimensions
        if only is None or dimension.name in only
    ]


def _dimension(one: EvaluationDimension) -> RubricDimension:
    known = (dimension for name in TEMPLATES for dimension in _template(name).dimensions)
    chinese = {dimension.words("en").text: dimension.words("zh").text for dimension in known}
    text = f"{one.description} {one.prompt_instruction or ''}".strip()
    return RubricDimension(
        name=one.name, en=DimensionWords(text=text), zh=DimensionWords(text=chinese.get(one.description, text))
    )


def _path(config: Mapping[str, object]) -> Path:
    path, kind = Path(str(config["path"])), str(config.get("format", "auto")).lower()
    if kind != "auto" and f".{kind}" != path.suffix.lower():
        raise BadInput("{path} is no file of the format '{format}' by its name.", path=path, format=kind)
    if path.suffix.lower() not in READERS:
        raise BadInput("{path}: items are read from {known}.", path=path, known=", ".join(READERS))
    return path


@cache
def _template(name: str) -> JudgeRubric:
    return rubric(f"{name}.toml", Path(__file__).with_name("templates"))
