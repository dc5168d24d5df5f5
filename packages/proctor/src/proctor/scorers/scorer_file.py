"""Read scorers from a file: tables `[scorers.NAME]` in TOML (or the same in YAML), or the article's settings.

[scorers.year]
kind = "regex"              # a scorer's name, or ./mine.py:function
pattern = '(19|20)[0-9]{2}'    # its options
"""

import inspect
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from proctor import registry
from proctor.core.declared import ScorerInfo, declared
from proctor.core.digest import digest
from proctor.core.errors import BadInput, needs
from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.runtime.threads import is_async
from proctor.scorers.lookup import Make, find_scorer, is_inline
from proctor.scorers.prediction_functions import adapted, takes_prediction

SUFFIXES = (".toml", ".yaml", ".yml")
MOST_BYTES = 1_000_000


class Configured(msgspec.Struct, frozen=True, kw_only=True):
    """A scorer with the name it has in its file; the version tells kind and options."""

    name: str
    reference: str
    version: str
    scorer: Scorer
    inline: bool

    @property
    def judge(self) -> Any:
        """Return what is recorded of the model that the scorer asks; None where it asks none."""
        return declared(ScorerInfo, self.scorer).judge

    @property
    def is_async(self) -> bool:
        """True if it waits for something, as judges do."""
        return is_async(self.scorer)

    def __call__(self, sample: Sample, trajectory: Trajectory, /) -> Any:
        return self.scorer(sample, trajectory)

    async def __aenter__(self) -> Self:
        if isinstance(self.scorer, AbstractAsyncContextManager):
            await self.scorer.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(self.scorer, AbstractAsyncContextManager):
            await self.scorer.__aexit__(kind, error, trace)


def is_file(name: str) -> bool:
    """True if a name means a file of scorers: `./scorers.toml`, or one scorer in it, `./scorers.toml:year`.

    >>> is_file("./scorers.toml:year"), is_file("exact:contains")
    (True, False)
    """
    return _split(name)[0].lower().endswith(SUFFIXES)


def load(name: str, make: Make = find_scorer) -> list[Configured]:
    """Return the scorers of a file, or the one named after the colon.

    Raises:
        BadInput: no such file or scorer, an unknown key or option; names the path in the file.
    """
    where, only = _split(name)
    path = Path(where).expanduser()
    values = read(path)
    scorers = values.get("scorers")
    if scorers is None:
        if only:
            raise BadInput("{path} names no scorers: it holds settings for all of them.", path=where)
        return [_of_article(values, where)]
    for key in values:
        if key != "scorers":
            raise BadInput(
                "{path}: unknown key '{key}' at {at}. Scorers belong under [scorers.NAME].", path=where, key=key, at="$"
            )
    if not isinstance(scorers, Mapping) or not scorers:
        raise BadInput(
            "{path}: {at} must be {expected}.", path=where, at="$.scorers", expected=say("a table of scorers")
        )
    if only and only not in scorers:
        raise registry.unknown("scorer", only, sorted(scorers), paths=False)
    file = _File(where, path.parent, scorers, make)
    return [file.configured(key) for key in ([only] if only else scorers)]


class _File:
    """The tables of a file, with the scorers made of them; parts of `combine` may be other tables."""

    def __init__(self, where: str, folder: Path, tables: Mapping[str, Any], make: Make) -> None:
        self._make = make
        self._where = where
        self._folder = folder
        self._tables = tables
        self._open: list[str] = []

    def configured(self, name: str) -> Configured:
        at = f"$.scorers.{name}"
        table = self._tables[name]
        if not isinstance(table, Mapping):
            raise BadInput("{path}: {at} must be {expected}.", path=self._where, at=at, expected=say("a table"))
        kind = table.get("kind", name)
        if not isinstance(kind, str):
            raise BadInput(
                "{path}: {at} must be {expected}.", path=self._where, at=f"{at}.kind", expected=say("a text")
            )
        options = {key: value for key, value in table.items() if key != "kind"}
        if name in self._open:
            raise BadInput("{path}: the scorer {at} is made of itself.", path=self._where, at=at)
        self._open.append(name)
        try:
            scorer = self._scorer(kind, {key: self._in_folder(key, value) for key, value in options.items()})
        except BadInput as error:
            raise BadInput("{path}, {at}: {error}", path=self._where, at=at, error=error.sentence) from None
        finally:
            self._open.pop()
        return Configured(
            name=name,
            reference=f"{self._where}:{name}",
            version=_version(kind, options, scorer, [self._tables[part] for part in self._named_in(options)]),
            scorer=scorer,
            inline=is_inline(scorer),
        )

    def _find(self, name: str) -> Scorer:
        return self.configured(name) if name in self._tables and name not in self._open else self._scorer(name, {})

    def _scorer(self, kind: str, options: Mapping[str, Any]) -> Scorer:
        if not registry.is_path(kind):
            if kind in self._open[:-1]:
                raise BadInput("{path}: the scorer {at} is made of itself.", path=self._where, at=f"$.scorers.{kind}")
            return self._make(kind, options, find=self._find)
        value = registry.load_object(str(self._folder / kind), "scorer")
        if takes_prediction(value):
            return adapted(value, options)
        if options:
            raise BadInput("The scorer '{name}' takes no options.", name=kind)
        scorer: Scorer = value
        return scorer

    def _in_folder(self, key: str, value: Any) -> object:
        """Paths among the options begin where the file is."""
        is_path = isinstance(value, str) and (key.endswith("_file") or (key == "rubric" and value.endswith(".toml")))
        return str(self._folder / value) if is_path else value

    def _named_in(self, value: object) -> Iterator[str]:
        """Yield the other tables that options lead to, so that a change there changes the version too."""
        if isinstance(value, str) and value in self._tables:
            yield value
        elif isinstance(value, Mapping):
            for item in value.values():
                yield from self._named_in(item)
        elif isinstance(value, list):
            for item in value:
                yield from self._named_in(item)


def _of_article(values: Mapping[str, Any], where: str) -> Configured:
    try:
        scorer: Scorer = registry.offered("scorer_settings", "article", needed_for=where)(values)
    except BadInput as error:
        raise BadInput("{path}: {error}", path=where, error=error.sentence) from None
    return Configured(
        name="by_type",
        reference=where,
        version=_version("article", values, scorer, []),
        scorer=scorer,
        inline=is_inline(scorer),
    )


def _version(kind: str, options: object, scorer: Scorer, others: list[object]) -> str:
    """Return a short digest of the options and of the code that reads them."""
    module = inspect.getmodule(scorer.__code__ if inspect.isfunction(scorer) else scorer)
    try:
        code = inspect.getsource(module) if module is not None else ""
    except (OSError, TypeError):
        code = ""
    # of a judge: its model, rubric and prompts
    own = [version] if (version := declared(ScorerInfo, scorer).version) else []
    return digest([kind, msgspec.to_builtins(options, str_keys=True), others, code, *own])[:12]


def _split(name: str) -> tuple[str, str]:
    """Path and the scorer in it; the colon of a drive is none of ours."""
    path, colon, only = name.rpartition(":")
    return (path, only) if colon and path.lower().endswith(SUFFIXES) else (name, "")


def read(path: Path) -> Mapping[str, Any]:
    """Return what a TOML or YAML file holds.

    Raises:
        BadInput: it cannot be read, is too large, or holds no table.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BadInput("There is no file {path}.", path=path) from None
    except OSError as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from None
    if len(data) > MOST_BYTES:
        raise BadInput("{path} is larger than {limit} bytes.", path=path, limit=MOST_BYTES)
    try:
        text = data.decode("utf-8-sig")
        values = tomllib.loads(text) if path.suffix.lower() == ".toml" else _yaml(text, path)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput("{path} is no valid TOML: {error}.", path=path, error=error) from None
    if not isinstance(values, Mapping) or not values:
        raise BadInput("{path}: {at} must be {expected}.", path=path, at="$", expected=say("a table of scorers"))
    return values


def _yaml(text: str, path: Path) -> object:
    with needs("yaml", path.name):
        import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        raise BadInput("{path} is no valid YAML: {error}.", path=path, error=error) from None
