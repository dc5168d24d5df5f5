"""ChatEval: do referees who debate judge pairs of answers as people do?

The system under test is the judge: `--agent debate:openai:MODEL` plays the debate, any other agent is a single referee. Each
pair is judged in both orders. The data are the user's; six pairs come with Proctor (`--set data=example`).
"""

from pathlib import Path

import msgspec
from msgspec.structs import replace

from proctor.config import converted
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import Sample
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.chateval import dataset, parity, replies
from proctor_benchmarks.chateval.scorer import chateval
from proctor_benchmarks.chateval.summary import summarise
from proctor_judging.judges.debating import SCORES, Order, Visibility


class ChatEvalOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which pairs are judged, by whom and by which rules.

    Attributes:
        data: a file of items, a clone of the official repository, or `example`.
        config: a file in the layout of the official `config.yaml`; that of the clone, or Proctor's own, when None.
        order, visibility, turns: rules in place of the configuration's.
        summary: all hear a summary of each round, as in the paper; goes with `order=concurrent`.
    """

    data: str | None = None
    config: str | None = None
    order: Order | None = None
    visibility: Visibility | None = None
    turns: int | None = None
    summary: bool = False


def task(**options: object) -> Task:
    """Return the task; data and configuration are read and checked here.

    Args:
        options: the fields of `ChatEvalOptions`.

    Raises:
        BadInput: no data are named, or something in a file or an option is wrong.
    """
    how = converted(options, ChatEvalOptions, "chateval")
    if how.data is None:
        raise BadInput(
            "Name the pairs to judge: --set data=FILE (items with question, response and human_results, as ChatEval's test.json has them), a clone of ChatEval, or data=example for six pairs that come with Proctor."
        )
    path, official = dataset.locate(how.data)
    config = Path(how.config).expanduser() if how.config else official or dataset.own_config()
    referees = dataset.referees_of(config)
    given = {name: value for name in ("order", "visibility", "turns") if (value := getattr(how, name)) is not None}
    rules = converted({**msgspec.structs.asdict(referees.rules), **given, "summary": how.summary}, type(referees.rules), "chateval")  # fmt: skip
    if rules.summary and rules.order != "concurrent":
        raise BadInput("A summary is made of a round in which all speak: add --set order=concurrent.")
    pairs = dataset.items(path)
    samples = list(dataset.samples(pairs, replace(referees, rules=rules)))
    return Task(
        name="chateval",
        version=dataset.COMMIT,
        samples=samples,
        scorers=(chateval,),
        oracle=_oracle,
        summarise=summarise,
        spread_by="order",
        planned=len(samples),
        provenance={
            "repository": "thunlp/ChatEval",
            "commit": dataset.COMMIT,
            "files": {path.name: digest_bytes(path.read_bytes()), config.name: digest_bytes(config.read_bytes())},
        },
    )


def _oracle(sample: Sample) -> Trajectory:
    """Return a referee's speech that agrees with people."""
    pair = sample.meta["pair"]
    shown = pair["names"] if pair["order"] == dataset.FORWARD else pair["names"][::-1]
    points = [9 if name == sample.target else 5 for name in shown]
    return Trajectory.of("\n".join(f"{mark} {value}" for mark, value in zip(SCORES, points, strict=True)))


PART = BenchmarkPart(
    task=task,
    options=ChatEvalOptions,
    summarise=summarise,
    replies=replies.read,
    export=replies.write,
    check_corpus=parity.check_corpus,
)
