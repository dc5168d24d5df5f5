"""Resolve which model judges: that of the run (`--judge`, `--judge-set`), unless a scorer names its own."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.judge import JudgeChoice
from proctor.models.named import model
from proctor_judging.judges.asker import Asker

Count = Annotated[int, msgspec.Meta(ge=1, le=100)]
Characters = Annotated[int, msgspec.Meta(ge=1)]
MOST_CHARACTERS = 200_000


class JudgeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of every judge.

    Attributes:
        rubric: the name of a rubric, or a file.
        tries: how often it is asked for one judgement at most.
        language: of the prompt; "auto" is that of the item.
    """

    rubric: str = ""
    tries: Count = 3
    language: Literal["auto", "en", "zh"] = "auto"


T = TypeVar("T", bound=msgspec.Struct)


def resolve_judge(given: Mapping[str, object], run: JudgeChoice) -> tuple[str, dict[str, object]]:
    """Return the model that a scorer with these options asks, and all options: its own over those of the run.

    A scorer that names its judge takes nothing from the run.

    Raises:
        BadInput: nobody named a judge.
    """
    rest = {key: value for key, value in given.items() if key != "judge"}
    own = given.get("judge")
    if own is not None:
        return str(own), rest
    if run.model is None:
        raise BadInput(
            "Name the model that judges: --judge openai:MODEL, the variable PROCTOR_JUDGE, or judge in proctor.toml."
        )
    return run.model, {**run.options, **rest}


def split_options(options: Mapping[str, object], kind: type[T], what: str) -> tuple[T, dict[str, object]]:
    """Split options into those of the judge, which `kind` describes, and the rest, which are those of its model."""
    own = {key: value for key, value in options.items() if key in kind.__struct_fields__}
    return converted(own, kind, what), {key: value for key, value in options.items() if key not in own}


def resolve_single_judge(
    options: Mapping[str, object], run: JudgeChoice, kind: type[T], what: str
) -> tuple[T, str, dict[str, object]]:
    """Return the options of a judge outside a jury, the model that it asks, and the options of the model.

    Raises:
        BadInput: nobody named a judge, or several; or an option is wrong.
    """
    name, all_options = resolve_judge(options, run)
    own, rest = split_options(all_options, kind, what)
    if "," in name:
        raise BadInput("'{names}' are several judges. Let them sit as a jury: --scorer jury:RUBRIC", names=name)
    return own, name, rest


def make_asker(name: str, model_options: Mapping[str, object], tries: int) -> Asker:
    """Return the model with a judge's name; its temperature is 0 unless the options set it."""
    return Asker(model(name, model_options, defaults={"temperature": 0.0}), name=name, tries=tries)
