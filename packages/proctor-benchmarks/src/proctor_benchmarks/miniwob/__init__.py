"""MiniWoB++: 128 small web pages, each with an instruction and a script that gives the reward, in a real Chromium.

`miniwob` is all of them, `miniwob/click-test,enter-text` are some. Pages and rewards are those of the official package, which is
fetched once; its Python is not used (`README.md`).
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.near import near
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import Sample
from proctor.core.task import Task
from proctor_adapters.datasets import fetch
from proctor_adapters.environments.browser import Chromium
from proctor_benchmarks.miniwob import official, oracle, parity, replies
from proctor_benchmarks.miniwob.environment import Instruction, MiniwobPages, TimeLimit
from proctor_benchmarks.miniwob.scorer import Success
from proctor_benchmarks.miniwob.summary import summarise

ALL, ORDINARY, SCRIPTED = "all", "ordinary", "scripted"
SETS = (ALL, ORDINARY, SCRIPTED)


class MiniWoBOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which episodes are played, and by which rules.

    Attributes:
        episodes: of each task; their seeds are consecutive.
        first_seed: the seed of the first.
        mode: the data of the page's tasks.
        limit: `official` ends an episode after the time the page sets (mostly 10 to 30 s, while the model thinks too).
        threshold: the least raw reward of a success.
        browser: the program.
        data: the package, see `official.locate`; the pinned one when None.
    """

    episodes: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 5
    first_seed: Annotated[int, msgspec.Meta(ge=0, le=2**31)] = 0
    mode: Literal["train", "test"] = "train"
    limit: TimeLimit = "none"
    threshold: Annotated[float, msgspec.Meta(gt=-1, le=1)] = 1.0
    browser: str | None = None
    data: str | None = None


def task(category: str | Sequence[str] | None = None, **options: object) -> Task:
    """Return the task of some pages.

    Args:
        category: a task or several (a list, or one text with commas), or a set: `all`, `ordinary` (without the flight pages),
            `scripted` (those that `baseline:oracle` can do).
        options: the fields of `MiniWoBOptions`.

    Raises:
        BadInput: an unknown task or option, or no browser; `MissingExtra` where the extra is not installed.
    """
    how = converted(options, MiniWoBOptions, "miniwob")
    folder = official.locate(how.data)
    known = official.names(folder)
    names = _names(category, known)
    pages = MiniwobPages(folder, Chromium(how.browser), how.limit)
    seeds = range(how.first_seed, how.first_seed + how.episodes)
    samples = [_sample(name, seed, how.mode) for name in names for seed in seeds]
    return Task(
        name="miniwob" if names == known else f"miniwob/{','.join(names)}",
        version=official.PACKAGE.version if how.data is None else f"of {folder}",
        samples=samples,
        scorers=(Success(how.threshold),),
        environment=pages,
        user=Instruction(),
        oracle_agent=oracle.ScriptedAgent(),
        summarise=summarise,
        spread_by="task",
        planned=len(samples),
        provenance={
            "package": official.PACKAGE.name,
            "version": official.PACKAGE.version if how.data is None else "unknown",
            "sha256": official.PACKAGE.sha256 if how.data is None else None,
            "licence": official.LICENCE,
            "tasks": len(names),
            "seeds": [seeds.start, seeds.stop - 1],
            "mode": how.mode,
            "time_limit": how.limit,
            "threshold": how.threshold,
        },
    )


def _names(wanted: str | Sequence[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    parts = [part.strip() for part in (wanted.split(",") if isinstance(wanted, str) else wanted or ()) if part.strip()]
    sets = {
        ALL: known,
        ORDINARY: [name for name in known if not name.startswith(official.FLIGHT)],
        SCRIPTED: [name for name in known if name in oracle.tasks()],
    }
    for part in parts:
        if part not in known and part not in sets:
            raise BadInput(
                "MiniWoB++ has no task '{name}'. Did you mean '{near}'? There are {count}, and the sets {sets}.",
                name=part,
                near=next(iter(near(part, [*known, *sets])), known[0]),
                count=len(known),
                sets=", ".join(sets),
            )
    chosen = dict.fromkeys(name for part in parts or (ALL,) for name in sets.get(part, (part,)))
    return tuple(chosen)


def _sample(name: str, seed: int, mode: str) -> Sample:
    return Sample(
        id=f"{name}/{seed}",
        turns=(),
        cluster=name,
        tags={"task": name},
        meta={"episode": {"task": name, "seed": seed, "mode": mode}},
    )


PART = BenchmarkPart(
    task=task,
    options=MiniWoBOptions,
    summarise=summarise,
    replies=replies.read,
    export=replies.write,
    check_corpus=parity.check_corpus,
    pull_package=partial(fetch.pull, official.PACKAGE),
)
