"""Read the options of a task of another program: its own arguments, who plays its roles, and how it is run."""

from collections.abc import Mapping

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput

AGENT = "agent"  # a role that the evaluated agent itself plays, because the user says so


class GuestHow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options `bridge.NAME`.

    Attributes:
        python: the interpreter of an environment that has the other program; ours if None.
        sandbox: "local" runs what a task does in its sandbox in the worker itself.
        unsafe: a task that runs what the model writes, may.
        confined: False gives the worker the network and your files, which Docker needs.
        scale: LOW:HIGH of a scorer whose values are not from 0 to 1, by its name; "none" keeps them out of the scores.
        seconds: how long the other program may load a task, or compute without asking a model.
    """

    python: str | None = None
    sandbox: str | None = None
    unsafe: bool = False
    confined: bool = True
    scale: Mapping[str, object] = {}
    seconds: float = 300.0

    @property
    def scales(self) -> dict[str, tuple[float, float] | None]:
        """Return the lowest and highest value of scorers, by name; None for one whose values are no scores.

        Raises:
            BadInput: one is neither LOW:HIGH nor "none".
        """
        return {name: _range(name, text) for name, text in _flat("bridge.scale", self.scale).items()}


class GuestOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a task, sorted.

    Attributes:
        arguments: those of the task itself.
        roles: the model that plays a role, by the name of the role.
        models: the model that answers where a task asks one by its name.
    """

    arguments: Mapping[str, object] = {}
    roles: Mapping[str, str] = {}
    models: Mapping[str, str] = {}
    how: GuestHow = GuestHow()


def read_options(values: Mapping[str, object], *, confined: bool | None = None) -> GuestOptions:
    """Sort the options of `--set`; what has none of the prefixes `role`, `model`, `bridge` and `args` is the task's own.

    Args:
        confined: in place of what the options say of it; None leaves it to them.

    Raises:
        BadInput: an unknown option of the bridge, or a value of another type.

    >>> read_options({"level": 2, "role": {"grader": "openai:x"}, "model": {"openai/gpt-4": {"1": "openai:y"}}}).models
    {'openai/gpt-4.1': 'openai:y'}
    """
    forced = {} if confined is None else {"confined": confined}
    own = {key: value for key, value in values.items() if key not in ("role", "model", "bridge", "args")}
    return GuestOptions(
        arguments={**own, **_mapping(values, "args")},
        roles=_flat("role", _mapping(values, "role")),
        models=_flat("model", _mapping(values, "model")),
        how=converted({**_mapping(values, "bridge"), **forced}, GuestHow, "bridge"),
    )


def _mapping(values: Mapping[str, object], prefix: str) -> Mapping[str, object]:
    given = values.get(prefix, {})
    if not isinstance(given, Mapping):
        raise BadInput(
            "--set {prefix}.NAME=VALUE is for the bridge; an argument of the task that is called '{prefix}' is written args.{prefix}.",
            prefix=prefix,
        )
    return given


def _range(name: str, text: str) -> tuple[float, float] | None:
    if text == "none":
        return None
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low = high = 0.0
    if not low < high:
        raise BadInput(
            "--set bridge.scale.{name} is LOW:HIGH, such as 1:10, or none, not '{text}'.", name=name, text=text
        )
    return low, high


def _flat(prefix: str, values: Mapping[str, object]) -> dict[str, str]:
    """Return the names of models by key; a key with dots was read as nested."""
    models: dict[str, str] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            models |= {f"{key}.{rest}": model for rest, model in _flat(prefix, value).items()}
        elif isinstance(value, str):
            models[key] = value
        else:
            raise BadInput("--set {prefix}.{key} takes a text, not {value}.", prefix=prefix, key=key, value=value)
    return models
