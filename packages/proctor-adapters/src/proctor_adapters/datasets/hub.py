"""Fetch data sets of the Hugging Face hub: `hub:OWNER/NAME`, `hub:OWNER/NAME/CONFIG`, each with an optional `@REVISION`.

Without a revision the hub's own Parquet copy is read (the branch `refs/convert/parquet`, files `CONFIG/SPLIT/0000.parquet`),
else the files of the set itself. Only the files of one configuration and one split are fetched, at one commit.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor.datasets.formats import kind_of, same_split, split_of
from proctor.runtime.folders import cache_folder
from proctor_adapters.datasets import data_sets

NAME = re.compile(r"hub:(?P<set>[\w.-]+/[\w.-]+)(?:/(?P<config>[\w.-]+))?(?:@(?P<revision>[\w./-]+))?")
PARQUET = "refs/convert/parquet"
DEFAULT = "default"  # the configuration of sets that have one only


def fetch_files(name: str, split: str | None) -> data_sets.DataSet:
    """Fetch the files of one configuration and split, unless they are in the cache.

    Raises:
        BadInput: no such set, configuration or split; several, of which the user has to name one; no network.
    """
    parts = NAME.fullmatch(name)
    if parts is None:
        raise BadInput(
            "A data set of the hub is written hub:OWNER/NAME or hub:OWNER/NAME/CONFIG, not '{name}'.", name=name
        )
    data_set, config, revision = parts["set"], parts["config"], parts["revision"]
    folder = cache_folder() / "hub-tasks" / "--".join(filter(None, (*data_set.split("/"), config, split)))
    advice = say("Without network give a file instead.")
    if revision is None and (folder / data_sets.LIST).is_file():  # fetched before, from the set itself
        revision = data_sets.MAIN
    if revision is None:
        try:
            return data_sets.fetch(
                data_set, revision=PARQUET, folder=folder, choose=_choose_converted(name, config, split), advice=advice
            )
        except data_sets.NotThere:  # a set that the hub has no Parquet copy of
            revision = data_sets.MAIN
    return data_sets.fetch(data_set, revision=revision, folder=folder, choose=_own(name, config, split), advice=advice)


def _choose_converted(name: str, config: str | None, split: str | None) -> Callable[[Sequence[str]], Sequence[str]]:
    """Choose among `CONFIG/SPLIT/NNNN.parquet`; a split that the hub converted only in part is `partial-SPLIT`."""

    def choose(files: Sequence[str]) -> Sequence[str]:
        by_config: dict[str, dict[str, list[str]]] = {}
        for file in files:
            path = PurePosixPath(file)
            if len(path.parts) == 3 and path.suffix == ".parquet":
                by_config.setdefault(path.parts[0], {}).setdefault(path.parts[1], []).append(file)
        return _one_split(name, _one_config(name, by_config, config), split)

    return choose


def _own(name: str, config: str | None, split: str | None) -> Callable[[Sequence[str]], Sequence[str]]:
    """Choose among the files of the set itself: a folder is a configuration, splits are named by files or folders."""

    def choose(files: Sequence[str]) -> Sequence[str]:
        data = [file for file in files if kind_of(Path(file)) and not file.startswith(".")]
        if config is not None:
            inside = [
                file for file in data if config in PurePosixPath(file).parts[:-1] or PurePosixPath(file).stem == config
            ]
            if not inside:
                raise _unknown("configuration", name, config, sorted({PurePosixPath(file).parts[0] for file in data}))
            data = inside
        by_split: dict[str, list[str]] = {}
        for file in data:
            by_split.setdefault(split_of(file), []).append(file)
        return _one_split(name, by_split, split)

    return choose


def _one_config(name: str, by_config: dict[str, dict[str, list[str]]], config: str | None) -> dict[str, list[str]]:
    wanted = config or (DEFAULT if DEFAULT in by_config else None)
    if wanted is None and len(by_config) == 1:
        return next(iter(by_config.values()))
    if wanted in by_config:
        return by_config[wanted]
    if config is not None:
        raise _unknown("configuration", name, config, sorted(by_config))
    raise BadInput(
        "{name} has several configurations: {known}. Say which: {name}/CONFIG",
        name=name,
        known=", ".join(sorted(by_config)[:40]) or "-",
    )


def _one_split(name: str, by_split: dict[str, list[str]], split: str | None) -> Sequence[str]:
    if split is None and len(by_split) == 1:
        return next(iter(by_split.values()))
    if split is None:
        raise BadInput(
            "{path} holds several splits: {known}. Say which: --set split=NAME",
            path=name,
            known=", ".join(sorted(filter(None, by_split))) or "-",
        )
    fitting = [other for other in by_split if other == split] or [
        other for other in by_split if same_split(other) == same_split(split)
    ]
    if len(fitting) != 1:
        raise BadInput(
            "{path} has no split '{split}'. It has: {known}.",
            path=name,
            split=split,
            known=", ".join(sorted(filter(None, by_split))) or "-",
        )
    return by_split[fitting[0]]


def _unknown(what: str, name: str, wanted: str, known: Sequence[str]) -> BadInput:
    return BadInput(
        "{name} has no {what} '{wanted}'. It has: {known}.",
        name=name,
        what=say(what),
        wanted=wanted,
        known=", ".join(known[:40]) or "-",
    )
