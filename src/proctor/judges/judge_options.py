"""Which model judges: what a run says (`--judge`, `--judge-set`), unless a scorer names its own."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.judge import JudgeChoice
from proctor.judges.asker import Asker
from proctor.models.named import model

Count = Annotated[int, msgspec.Meta(ge=1, le=100)]
Characters = Annotated[int, msgspec.Meta(ge=1)]
MOST_CHARACTERS = 200_000


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """What can be set for every judge.

    Attributes:
        rubric: the name of a rubric, or a file.
        tries: how often it is asked for one judgement at most.
        language: of the prompt; "auto" is that of what is judged.
    """

    rubric: str = ""
    tries: Count = 3
    language: Literal["auto", "en", "zh"] = "auto"


T = TypeVar("T", bound=msgspec.Struct)


def choice(given: Mapping[str, Any], run: JudgeChoice) -> tuple[str, dict[str, Any]]:
    """The model that a scorer with these options asks, and all its options: its own over those of the run.

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


def parted(options: Mapping[str, Any], kind: type[T], what: str) -> tuple[T, dict[str, Any]]:
    """The options of a judge, as `kind` describes them, and the rest, which are those of its model."""
    own = {key: value for key, value in options.items() if key in kind.__struct_fields__}
    return converted(own, kind, what), {key: value for key, value in options.items() if key not in own}


def single(options: Mapping[str, Any], run: JudgeChoice, kind: type[T], what: str) -> tuple[T, str, dict[str, Any]]:
    """The options of a judge that sits alone, the model that it asks, and the options of that.

    Raises:
        BadInput: nobody named a judge, or several; or an option is wrong.
    """
    name, all_options = choice(options, run)
    own, rest = parted(all_options, kind, what)
    if "," in name:
        raise BadInput("'{names}' are several judges. Let them sit as a jury: --scorer jury:RUBRIC", names=name)
    return own, name, rest


def asker(name: str, model_options: Mapping[str, Any], tries: int) -> Asker:
    """The model behind a judge's name; its temperature is 0 unless the options say otherwise."""
    return Asker(model(name, model_options, defaults={"temperature": 0.0}), name=name, tries=tries)
