"""Read the settings of a project: `proctor.toml`, or `[tool.proctor]` in `pyproject.toml`, in this folder or one above it.

Flags win over the environment, the environment over the file.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from proctor.core.errors import BadInput
from proctor.core.near import did_you_mean, near
from proctor.core.project import project_table
from proctor.core.run import Budget, Limits, Price
from proctor.core.sentence import say
from proctor.core.validation import in_words

T = TypeVar("T", bound=msgspec.Struct)


class ProjectSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a project file; a flag of the same name wins.

    `prices` are by model, for a million tokens; `price_table` has those of other models, in US dollars; `cache_megabytes` is the size of the reply cache. `least_agreement` is what the lower
    end of a judge's alpha with people has to reach, so that its figures are no longer called uncalibrated. `tiers` are read by
    `continuous.tiers`, where they are used.
    """

    store: str | None = None
    lang: Literal["en", "zh"] | None = None
    agent: str | None = None
    agent_options: Mapping[str, Any] = {}
    environment: str | tuple[str, ...] | None = None
    environment_options: Mapping[str, Any] = {}
    approve: str | tuple[str, ...] | None = None
    on_agent_error: Literal["agent", "provider", "ask"] | None = None
    task_options: Mapping[str, Any] = {}
    judge: str | None = None
    judge_options: Mapping[str, Any] = {}
    # the least that Krippendorff draws conclusions from
    least_agreement: Annotated[float, msgspec.Meta(ge=0, le=1)] = 2 / 3
    concurrency: int | None = None
    attempts: int | None = None
    seed: int | None = None
    limits: Limits | None = None
    budget: Budget = Budget()
    max_failed: float | None = None
    trace_to: str | None = None
    trace_content: bool | None = None
    cache_megabytes: Annotated[int, msgspec.Meta(ge=1)] = 2_000
    prices: Mapping[str, Price] = {}
    price_table: Literal["genai-prices"] | None = None
    tiers: Mapping[str, Any] = {}


def settings(folder: Path | None = None) -> ProjectSettings:
    """Return the settings of the project that a folder (this one if None) belongs to; defaults when there is no file.

    Raises:
        BadInput: the file is no TOML, or has an unknown or wrong entry; names file and path.
    """
    pair = project_table(str(folder or ""))
    return ProjectSettings() if pair is None else _checked(*pair)


def store_url(asked: str | None, found: ProjectSettings) -> str | None:
    """Return the store to use: the one asked for, that of the environment, that of the file, or None for the default."""
    return asked or os.environ.get("PROCTOR_STORE") or found.store


def judge_name(found: ProjectSettings) -> str | None:
    """Return the default judge: that of the environment, of the file, or None."""
    return os.environ.get("PROCTOR_JUDGE") or found.judge


def converted(values: Mapping[str, object], kind: type[T], what: str) -> T:
    """Convert options to the type that describes them.

    Raises:
        BadInput: an unknown option (the nearest match is named), or a value of the wrong type.
    """
    known = [field.encode_name for field in msgspec.structs.fields(kind)]
    for name in values:
        if name not in known:
            raise unknown_option(what, name, known)
    try:
        return msgspec.convert(dict(values), kind, strict=False)
    except msgspec.ValidationError as error:
        _check_choices(what, values, kind)
        raise BadInput("{what}: {error}.", what=what, error=in_words(error)) from None


def _check_choices(what: str, values: Mapping[str, object], kind: type[msgspec.Struct]) -> None:
    for field in msgspec.structs.fields(kind):
        kinds = get_args(field.type) if get_origin(field.type) in (Union, UnionType) else (field.type,)
        choices = tuple(entry for kind in kinds if get_origin(kind) is Literal for entry in get_args(kind))
        value = values.get(field.encode_name)
        if value is not None and all(kind is NoneType or get_origin(kind) is Literal for kind in kinds):
            check_choice(what, field.encode_name, value, choices)


def check_choice(what: str, option: str, value: object, choices: tuple[object, ...]) -> None:
    """Raise BadInput if the value of an option is none of its choices; as text, a number may be in quotes."""
    if str(value) not in map(str, choices):
        raise BadInput(
            "The option '{option}' of {what} cannot be '{value}'. It can be: {known}.",
            option=option,
            what=what,
            value=value,
            known=", ".join(map(str, choices)),
        )


def unknown_option(what: str, name: str, known: list[str]) -> BadInput:
    """Return the error for an option that a part does not have."""
    if not known:
        return BadInput("{what} takes no options, so none called '{name}'.", what=what, name=name)
    nearest = near(name, known)
    return BadInput(
        "{what} has no option '{name}'.{near}{known}",
        what=what,
        name=name,
        near=did_you_mean(nearest),
        known=say(" Known: {known}.", known=", ".join(known)),
    )


def _checked(path: str, table: Mapping[str, object]) -> ProjectSettings:
    try:
        return msgspec.convert(table, ProjectSettings)
    except msgspec.ValidationError as error:
        _check_choices(path, table, ProjectSettings)
        raise BadInput("{path}: {error}.", path=path, error=in_words(error)) from None
