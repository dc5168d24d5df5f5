"""Make a task of samples that are done in boxes and judged by verifiers."""

from collections.abc import Mapping, Sequence

from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence
from proctor.core.task import Task
from proctor_benchmarks.boxes.box_maker import BoxMaker
from proctor_benchmarks.boxes.box_task import META, oracle, plant, task_of
from proctor_benchmarks.boxes.environment import BoxEnvironment
from proctor_benchmarks.boxes.opening import BoxOptions, choose_backend
from proctor_benchmarks.boxes.verifier_scorer import Grade, VerifierScorer
from proctor_benchmarks.boxes.verifying import VerifierMode


class BoxTaskOptions(BoxOptions, frozen=True, kw_only=True):
    """How tasks in boxes are run.

    Attributes:
        verifier: `guarded` and `separate` judge in a fresh box; `shared` in the agent's own, as Harbor does by default, where
            the agent can reach it.
    """

    verifier: VerifierMode = "guarded"


class TaskBoxMaker(BoxMaker):
    """Makes the boxes of tasks, whose tests and solutions no agent may find."""

    def plant(self, sample: Sample, text: str) -> Sample:
        """Return a sample with a text where its tests and solution are kept, for audits; see `core.declared.MakerInfo`."""
        return plant(sample, text)


def task_in_boxes(
    name: str,
    samples: Sequence[Sample],
    options: BoxTaskOptions,
    *,
    notes: Sequence[Sentence] = (),
    provenance: Mapping[str, object] = {},
    grade: Grade | None = None,
) -> Task:
    """Return the task of samples that carry a `BoxTask`.

    Args:
        grade: the verdict on a log, for tasks whose verdict is one.

    Raises:
        BadInput: there is no backend here that can run them.
    """
    tasks = [task for sample in samples if (task := task_of(sample)) is not None]
    needs_image = any(task.image or task.build for task in tasks)
    backend = choose_backend(options, needs_image=needs_image)

    def make(sample: Sample) -> BoxEnvironment:
        task = task_of(sample)
        if task is None:
            raise BadInput("The sample {id} has no '{key}'.", id=sample.id, key=META)
        return BoxEnvironment(task, options, options.verifier)

    return Task(
        name=name,
        version=digest([[sample.id, task.digest()] for sample, task in zip(samples, tasks, strict=True)])[:12],
        samples=samples,
        scorers=(VerifierScorer(options, options.verifier, grade),),
        environment=TaskBoxMaker(make, tasks, options),
        oracle=oracle,
        planned=len(samples),
        notes=notes,
        provenance={**provenance, "backend": backend, "verifier": options.verifier},
    )
