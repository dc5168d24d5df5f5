"""τ²-bench: an agent of customer service with tools, a policy, and a simulated user who may have tools of its own.

`tau2` is airline, retail and telecom; `tau2/retail` is one of them, and there are `tau2/telecom-workflow` (another wording of
the policy) and `tau2/mock`. Tools, databases, policies and assertions are the official code, run in worker processes from
the user's own copy of the repository; prompts, conversation and rewards are as officially (`README.md`).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from proctor.config import converted
from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor.core.trial import TrialFailure
from proctor_benchmarks.tau2 import dataset, export, gold, parity, pull, replies
from proctor_benchmarks.tau2.environment import Tau2Environment
from proctor_benchmarks.tau2.progress import EndRules
from proctor_benchmarks.tau2.scorer import Replay, RewardScorer
from proctor_benchmarks.tau2.upstream import Upstream
from proctor_benchmarks.tau2.user import Tau2User
from proctor_benchmarks.tau2.wording import Role

WITHOUT_USER = ("telecom", "telecom-workflow", "mock")
Split = Literal["base", "train", "test", "small", "full"]


class Tau2Options(msgspec.Struct, frozen=True, kw_only=True):
    """Which tasks are played, with whom, and by which limits.

    Attributes:
        data: a clone or unpacked archive of the official repository; PROCTOR_TAU2_DATA, or what `proctor data pull tau2`
            fetched, when None.
        user: the model that plays the user, or an object with `model` and its options; `gold` makes the expected actions.
        split: which of the official splits of tasks.
        agent: what the agent is given: the policy (`agent`), also the expected actions (`ground_truth`), or a ticket and no
            user (`solo`; telecom and mock).
        max_steps, max_errors, enforce_protocol: the official limits.
        replay: `strict` leaves a recorded conversation unscored where a tool now answers otherwise, `lenient` scores it.
    """

    data: str | None = None
    user: str | Mapping[str, object] | None = None
    split: Split = "base"
    agent: Role = "agent"
    max_steps: int = EndRules().max_steps
    max_errors: int = EndRules().max_errors
    enforce_protocol: bool = False
    replay: Replay = "strict"


def task(category: str | Sequence[str] | None = None, **options: object) -> Task:
    """Return the task of some domains. The tasks are read and checked here; databases when the first worker starts.

    Args:
        category: a domain, or several with commas; airline, retail and telecom when None.
        options: the fields of `Tau2Options`.

    Raises:
        BadInput: an unknown domain or option, no copy of the repository, or a file in another layout.
        MissingExtra: a package that the official code imports is not installed.
    """
    how = converted(options, Tau2Options, "tau2")
    domains = dataset.domains_of(category)
    if how.agent == "solo" and (wrong := [name for name in domains if name not in WITHOUT_USER]):
        raise BadInput("{domains} cannot be played without a user; {known} can.", domains=", ".join(wrong), known=", ".join(WITHOUT_USER))  # fmt: skip
    upstream = Upstream(dataset.locate(how.data))
    rules = EndRules(
        max_steps=how.max_steps,
        max_errors=how.max_errors,
        enforce_protocol=how.enforce_protocol,
        solo=how.agent == "solo",
    )
    samples, notes, digests = _read(upstream.root, domains, how, rules)

    def oracle(sample: Sample) -> Trajectory:
        return gold.oracle(sample, solo=rules.solo)

    return Task(
        name="tau2" if category is None else f"tau2/{','.join(domains)}",
        version=dataset.COMMIT[:12] if not any("pinned" in note.text for note in notes) else digest(digests)[:12],
        samples=samples,
        scorers=(RewardScorer(upstream, how.replay),),
        environment=partial(Tau2Environment, upstream),
        user=Tau2User(how.user, how.agent),
        oracle=oracle,
        provenance={
            "repository": "sierra-research/tau2-bench",
            "commit": dataset.COMMIT,
            "licence": dataset.LICENCE,
            "files": digests,
            "warnings": [str(note) for note in notes],
        },
        spread_by="domain",
        planned=len(samples),
        notes=notes,
    )


def _read(
    root: Path, domains: Sequence[str], how: Tau2Options, rules: EndRules
) -> tuple[list[Sample], list[Sentence], dict[str, str]]:
    samples: list[Sample] = []
    notes: list[Sentence] = []
    digests: dict[str, str] = {}
    for domain in domains:
        raw = dataset.raw_tasks(root, domain, how.split)
        fitting = [
            dataset.sample_of(domain, task, msgspec.to_builtins(rules))
            for task in raw
            if _fits(dataset.parsed(task), how.agent)
        ]
        if left_out := len(raw) - len(fitting):
            notes.append(
                say(
                    "{count} tasks of {domain} are left out: they cannot be played as {agent}.",
                    count=left_out,
                    domain=domain,
                    agent=how.agent,
                )
            )
        samples += fitting
        of_domain, changed = dataset.digests(root, domain)
        digests |= of_domain
        notes += changed
    return samples, notes, digests


def _fits(task: dataset.Tau2Task, agent: Role) -> bool:
    return task.fits_solo if agent == "solo" else agent != "ground_truth" or bool(task.actions)


def _replies(path: Path, task_options: Mapping[str, Any]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    domains = dataset.domains_of(task_options.get("category"))
    return replies.read(path, domains)


PART = BenchmarkPart(
    task=task,
    options=Tau2Options,
    replies=_replies,
    export=export.write,
    check_corpus=parity.check_corpus,
    pull_package=pull.pull,
)
