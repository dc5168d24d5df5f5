"""SOTOPIA: how well does an agent reach a social goal with another who has goals and secrets too?

The agent and a partner, played by a model (`--set partner=openai:MODEL`), act in turn until the rules end the episode; a judge
(`--judge`) rates both in seven dimensions. The agent plays each of the two. Characters and scenarios are the user's; a few
come with Proctor (`--set data=example`).
"""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from proctor.config import converted
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.task import Task
from proctor_benchmarks.sotopia import dataset, parity, replies
from proctor_benchmarks.sotopia.actions import Edition
from proctor_benchmarks.sotopia.episode import EpisodeRules, Order
from proctor_benchmarks.sotopia.partner import EpisodeStage, Partner
from proctor_benchmarks.sotopia.scene import xml_library
from proctor_benchmarks.sotopia.scorer import SotopiaScorer
from proctor_benchmarks.sotopia.summary import summarise

COMMIT = "a0aaafb440e5"


class SotopiaOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is played, with whom, and by which rules.

    Attributes:
        data: a TOML file, a folder in the official layout, or `example`.
        partner: the model that plays the others, or an object with `model` and its options.
        edition: sotopia 0.1.5 as released (`package`), or its repository (`main`).
        order: who may act: one after the other, all at once, or one drawn by lot.
        max_turns: turns after which an episode is over.
        max_stale: how many actions in a row may be `none`.
        model: of recorded episodes, the model whose players are scored; all of them when None.
    """

    data: str | None = None
    partner: str | Mapping[str, object] | None = None
    edition: Edition = EpisodeRules().edition
    order: Order = EpisodeRules().order
    max_turns: Annotated[int, msgspec.Meta(ge=1, le=200)] = EpisodeRules().max_turns
    max_stale: Annotated[int, msgspec.Meta(ge=0, le=200)] = EpisodeRules().max_stale
    model: str | None = None


def task(**options: object) -> Task:
    """Return the task; characters and scenarios are read and checked here.

    Args:
        options: the fields of `SotopiaOptions`.

    Raises:
        BadInput: no data are named, or something in a file or an option is wrong.
        MissingExtra: lxml is not installed.
    """
    how = converted(options, SotopiaOptions, "sotopia")
    if how.data is None:
        raise BadInput(
            "Name the scenarios to play: --set data=FILE.toml, a folder with the official profiles, or data=example for some that come with Proctor."
        )
    xml_library()
    path = dataset.locate(how.data)
    rules = EpisodeRules(edition=how.edition, order=how.order, max_turns=how.max_turns, max_stale=how.max_stale)
    samples = list(dataset.samples(dataset.scenes(path), rules))
    return Task(
        name="sotopia",
        version=f"0.1.5-{how.edition}",
        samples=samples,
        scorers=(SotopiaScorer(),),
        environment=EpisodeStage,
        user=Partner(how.partner),
        summarise=summarise,
        spread_by="scenario",
        planned=len(samples),
        provenance={
            "repository": "sotopia-lab/sotopia",
            "release": "0.1.5",
            "commit": COMMIT,
            "licence": "MIT",
            "files": {file.name: digest_bytes(file.read_bytes()) for file in dataset.files_of(path)},
        },
    )


PART = BenchmarkPart(
    task=task,
    options=SotopiaOptions,
    summarise=summarise,
    replies=replies.read,
    export=replies.write,
    check_corpus=parity.check_corpus,
)
