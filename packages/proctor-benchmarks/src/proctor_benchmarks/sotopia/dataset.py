"""Read characters, scenarios and who plays them: from a TOML file of the user's own, or a folder in the official layout.

    [[characters]]
    id = "ann"
    first_name = "Ann"
    last_name = "Lee"

    [[scenarios]]
    id = "stall"
    scenario = "A stall at a market, shortly before it closes."
    agent_goals = ["Sell the lamp for 40 or more", "Buy the lamp for 25 or less"]
    relationship = "stranger"
    players = [["ann", "bob"]]

The official files are those that `sotopia.database.serialization` writes, as JSON lines, one for each of the three kinds.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

import msgspec

from proctor.core.errors import BadInput
from proctor.core.near import near
from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor.core.validation import in_words
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.sotopia.episode import EpisodeRules
from proctor_benchmarks.sotopia.scene import RELATIONSHIPS, Profile, Scene, Setting

EXAMPLE = "example"
OFFICIAL = ("agent_profiles", "environment_profiles", "combo")  # is part of the name of each file
MOST_PLAYERS = 10

T = TypeVar("T", bound=msgspec.Struct)
Row = dict[str, object]


class Cast(msgspec.Struct, frozen=True, kw_only=True):
    """Who plays a scenario: the ids of both."""

    env_id: str
    agent_ids: tuple[str, ...]


def locate(data: str) -> Path:
    """Return the file or folder of a name; `example` comes with Proctor."""
    return (
        Path(str(files("proctor_benchmarks.sotopia") / "example.toml")) if data == EXAMPLE else Path(data).expanduser()
    )


def files_of(path: Path) -> list[Path]:
    """Return what is read of a file or folder: of a folder characters, scenarios, and who plays them.

    Raises:
        BadInput: the folder has no such file, or several.
    """
    if not path.is_dir():
        return [path]
    candidates = [sorted(path.glob(f"*{part}*.jsonl")) for part in OFFICIAL]
    for part, matches in zip(OFFICIAL, candidates, strict=True):
        if len(matches) != 1:
            raise BadInput(
                "{path} needs one file *{part}*.jsonl; it has {count}.", path=path, part=part, count=len(matches)
            )
    return [matches[0] for matches in candidates]


def scenes(path: Path) -> dict[str, Scene]:
    """Read all scenes, each by an id: that of its scenario, with those of its players.

    Raises:
        BadInput: a file that cannot be read, a field that is missing or wrong, or an id that nothing has; names it.
    """
    characters, scenarios, casts = _official(path) if path.is_dir() else _own(path)
    profiles = _by_id(path, "characters", characters, Profile)
    settings = _by_id(path, "scenarios", scenarios, Setting)
    found: dict[str, Scene] = {}
    for cast in casts:
        count = len(cast.agent_ids)
        if not 2 <= count <= MOST_PLAYERS or len(set(cast.agent_ids)) < count:
            raise BadInput(
                "{path}: '{id}' is played by {players}; it needs 2 to {most} different characters.",
                path=path,
                id=cast.env_id,
                players=", ".join(cast.agent_ids) or "-",
                most=MOST_PLAYERS,
            )
        setting = _known(path, settings, cast.env_id)
        players = tuple(_known(path, profiles, id) for id in cast.agent_ids)
        found[scene_id(cast.env_id, cast.agent_ids)] = Scene(setting=setting, profiles=players)
    if not found:
        raise BadInput("{path} has no scenario with players.", path=path)
    return found


def scene_id(environment: str, players: Sequence[str]) -> str:
    """Return what a scenario with its players is called."""
    return f"{environment}/{'+'.join(players)}"


def samples(found: Mapping[str, Scene], rules: EpisodeRules) -> Iterator[Sample]:
    """Yield each scene as often as it has players: the agent plays each of them once."""
    for id, scene in found.items():
        for seat in range(len(scene.profiles)):
            yield Sample(
                id=f"{id}/{seat + 1}",
                turns=(),
                cluster=scene.setting.pk,
                tags={
                    "scenario": scene.setting.codename or scene.setting.pk,
                    "relationship": RELATIONSHIPS[scene.setting.relationship],
                    "seat": str(seat + 1),
                },
                meta={"scene": msgspec.to_builtins(scene), "seat": seat, "rules": msgspec.to_builtins(rules)},
            )


def scene_of(sample: Sample) -> tuple[Scene, int, EpisodeRules]:
    """Return the scene of a sample, which player of it the agent is, and the rules."""
    meta = sample.meta
    return msgspec.convert(meta["scene"], Scene), int(meta["seat"]), msgspec.convert(meta["rules"], EpisodeRules)


def _own(path: Path) -> tuple[list[Row], list[Row], list[Cast]]:
    try:
        read = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8-sig")), dict[str, list[Row]])
    except (OSError, ValueError, RecursionError, msgspec.ValidationError) as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=in_words(error)) from None
    for key in read.keys() - {"characters", "scenarios"}:
        raise BadInput("{path}: expected [[characters]] and [[scenarios]], not '{key}'.", path=path, key=key)
    scenarios = read.get("scenarios", [])
    casts: list[Cast] = []
    for row in scenarios:
        try:
            pairs = msgspec.convert(row.pop("players", []), list[tuple[str, ...]])
        except msgspec.ValidationError as error:
            raise BadInput("{path}: the players of '{id}': {error}.", path=path, id=row.get("id"), error=in_words(error)) from None  # fmt: skip
        casts += [Cast(env_id=str(row.get("id")), agent_ids=pair) for pair in pairs]
    return read.get("characters", []), scenarios, casts


def _official(path: Path) -> tuple[list[Row], list[Row], list[Cast]]:
    characters, scenarios, casts = files_of(path)
    return (
        [row for _, row in read_json_lines(characters, Row)],
        [row for _, row in read_json_lines(scenarios, Row)],
        [cast for _, cast in read_json_lines(casts, Cast)],
    )


def _by_id(path: Path, table: str, rows: Sequence[Row], kind: type[T]) -> dict[str, T]:
    by_id: dict[str, T] = {}
    for number, row in enumerate(rows, 1):
        given = next((row[name] for name in ("id", "pk", "agent_id", "env_id") if row.get(name)), None)
        where = say("{path}, {table}, entry {number}", path=path, table=table, number=number)
        if not isinstance(given, str) or given in by_id:
            raise BadInput("{where}: its id is missing, no text, or was given before.", where=where)
        try:
            by_id[given] = msgspec.convert({**row, "pk": given, **_relationship(row)}, kind)
        except msgspec.ValidationError as error:
            raise BadInput("{where}: {error}.", where=where, error=in_words(error)) from None
    return by_id


def _relationship(row: Row) -> Row:
    """Return the relationship as a number where it is given by name, or as digits."""
    given = row.get("relationship")
    if not isinstance(given, str):
        return {}
    name = given.rpartition(".")[2]
    return {"relationship": RELATIONSHIPS.index(name) if name in RELATIONSHIPS else int(name) if name.isdecimal() else name}  # fmt: skip


def _known(path: Path, found: Mapping[str, T], id: str) -> T:
    if id not in found:
        meant = near(id, list(found))
        raise BadInput(
            "{path}: nothing has the id '{id}'.{near}",
            path=path,
            id=id,
            near=say(" Did you mean '{near}'?", near=meant[0]) if meant else "",
        )
    return found[id]
