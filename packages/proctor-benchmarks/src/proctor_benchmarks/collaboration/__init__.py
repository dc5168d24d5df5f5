"""Collaboration of several agents: task completion, communication efficiency, turn balance, redundancy, hand-offs, recovery.

Eight small scenarios come with it; `--set data=FILE.toml` takes scenarios of your own, and any other file or folder is read
as transcripts, which are scored without goals. `--replies` scores transcripts on the goals of scenarios.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from proctor.config import check_choice
from proctor.core.digest import digest_file
from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import Message, Part, Sample, Text, ToolCall
from proctor.core.task import Environment, Task
from proctor.core.trajectory import Step, Trajectory
from proctor.core.trial import TrialFailure
from proctor.environments import python
from proctor_adapters.traces import is_trace
from proctor_adapters.traces.replies import replies as traced_replies
from proctor_benchmarks.collaboration import transcripts
from proctor_benchmarks.collaboration.dataset import BUNDLED, Language, samples
from proctor_benchmarks.collaboration.office import Office
from proctor_benchmarks.collaboration.parity import check_corpus
from proctor_benchmarks.collaboration.scorer import KEY, CollaborationOptions
from proctor_benchmarks.collaboration.summary import summarise

SCORERS = (
    "collaboration",
    "collaboration:balance",
    "collaboration:novelty",
    "collaboration:handoffs",
    "collaboration:recovery",
)
MOST_STEPS = 30


def task(data: str | None = None, language: Language = "all", *, steps: int = MOST_STEPS) -> Task:
    """Return the scenarios, or the transcripts as samples without goals.

    Args:
        data: a TOML file of scenarios, else a transcript, a file or folder of them, or a trace.
        language: of the scenarios; those that name none are in every language.
        steps: replies at most, which end the conversation.

    Raises:
        BadInput: the file cannot be read, or something in it is wrong.
    """
    check_choice("collaboration", "language", language, ("all", "en", "zh"))
    if steps < 1:
        raise BadInput("{name} must be at least 1, not {value}.", name="steps", value=steps)
    path = Path(data).expanduser() if data is not None else BUNDLED
    found = samples(path, language, steps)
    if not found:
        raise BadInput("{path} has no scenario in this language.", path=path)
    office = python.wrap(Office)

    def environment(sample: Sample) -> Environment | None:
        return office(sample) if "environment" in sample.meta else None

    return Task(
        name="collaboration",
        version="1",
        samples=found,
        scorers=SCORERS,
        environment=environment,
        oracle=_oracle,
        summarise=summarise,
        spread_by="language" if all("language" in sample.tags for sample in found) else None,
        planned=len(found),
        provenance={
            "data": path.name,
            **({"digest": digest_file(path)} if path.is_file() else {}),
            "licence": "Apache-2.0",
        },
    )


def replies(path: Path, task_options: Mapping[str, object]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    """Yield each transcript with its scenario, found by id, by file name, or by the question.

    Raises:
        BadInput: a transcript that cannot be read, or belongs to no scenario.
    """
    known = list(task(**dict(task_options)).samples)  # type: ignore[arg-type]  # a list, as made above
    if is_trace(path):
        yield from traced_replies(path, known).found
        return
    ids = {sample.id for sample in known}
    by_question = {" ".join(sample.question.split()): sample.id for sample in known}
    for transcript in transcripts.read(path):
        fitting = next((id for id in transcript.ids if id in ids), None) or by_question.get(
            " ".join(transcript.question.split())
        )
        if fitting is None:
            raise BadInput(
                "{path}: {reason}", path=transcript.path, reason=transcripts.problem(transcript.ids[-1], sorted(ids))
            )
        yield fitting, transcript.trajectory


def _oracle(sample: Sample) -> Trajectory:
    """Return what a good team does: each agent that a goal names acts for it, and the last message names all that is asked."""
    options = msgspec.convert(sample.meta.get(KEY) or {}, CollaborationOptions)
    lead = next(iter(options.team), "agent")
    by_call = {goal.call: goal.by for goal in options.goals}
    said = [
        (by_call.get(name) or lead, ToolCall(name=name, arguments=arguments, id=f"call_{index}"))
        for index, (name, arguments) in enumerate(sample.meta.get("solution", ()))
    ]
    words = [(goal.by or lead, Text(text=goal.said[0])) for goal in options.goals if goal.said]
    last = ". ".join(goal.answer[0] for goal in options.goals if goal.answer)
    every: list[tuple[str, Part]] = [*said, *words, (lead, Text(text=last or "Done."))]
    return Trajectory(
        steps=tuple(Step(message=Message(role="assistant", parts=(part,)), author=author) for author, part in every),
        tools="native",
    )


PART = BenchmarkPart(task=task, summarise=summarise, replies=replies, check_corpus=check_corpus)
