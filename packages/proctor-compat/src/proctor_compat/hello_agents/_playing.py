"""Play a task with an agent through the engine, and say how far it is; the agents of all tools here go this way."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import proctor
from proctor.agents import openai
from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.task import Task
from proctor.core.trial import IN_THE_MEAN, Trial, Verdict
from proctor.engine.progress import Progress
from proctor_compat.hello_agents._settings import endpoint, model_id
from proctor_compat.hello_agents._tool import whole
from proctor_compat.hello_agents._words import tell
from proctor_judging.generation.files import write

EVERY = 10


class PlayedSample(msgspec.Struct, frozen=True, kw_only=True):
    """One sample of a run: what the agent did, and what the scorers said, by name."""

    trial: Trial
    scores: dict[str, Score]

    @property
    def counts(self) -> bool:
        """True if the sample counts in the mean; a provider's failure says nothing about the agent."""
        return self.trial.outcome in IN_THE_MEAN

    @property
    def error(self) -> str | None:
        """The reason why there is no score; None if there is one."""
        return str(self.trial.failure.reason) if self.trial.failure is not None else None


def play(task: Task, agent: object, *, concurrency: int = 1) -> tuple[Run, list[PlayedSample]]:
    """Run every sample once, in order, and give back the run, which is in the default store, and its samples.

    One sample at a time, as in the original: a plain object with `run` may not bear more.
    """
    run = proctor.evaluate(task, agent=agent, concurrency=concurrency, order="official", progress=_Printed())
    return run, list(_played(run))


def agent_or_model(agent: object) -> object:
    """Return the agent, or the model of `LLM_MODEL_ID` without one: an agent that calls a tool cannot pass an agent.

    Raises:
        BadInput: neither.
    """
    if agent is not None:
        return agent
    model = model_id()
    if not model:
        raise BadInput("There is no agent to evaluate: give 'agent', or set LLM_MODEL_ID.")
    options = endpoint()
    return openai.make(model, options) if options else f"openai:{model}"


def name_of(agent: object) -> str:
    """Return the name of an agent as results have it; "Unknown" for none."""
    if agent is None or isinstance(agent, str):
        return agent or "Unknown"
    name = getattr(agent, "name", None) or getattr(agent, "__name__", None)
    return str(name) if name else type(agent).__name__


class _Printed(Progress):
    def added(self, trial: Trial, verdicts: Sequence[Verdict]) -> None:
        done, total = self.status.done, self.status.total
        if done % EVERY == 1 or done == total:
            tell(say("Progress: {done}/{total}", done=done, total=total), indent=3)


def _played(run: Run) -> Iterator[PlayedSample]:
    scores: dict[str, dict[str, Score]] = {}
    for verdict in run.verdicts():
        if isinstance(verdict.result, Score):
            scores.setdefault(verdict.sample_id, {})[verdict.scorer] = verdict.result
    for trial in run.trials():
        yield PlayedSample(trial=trial, scores=scores.get(trial.sample_id, {}))


class Questions(ABC):
    """Questions as dicts, read on first use.

    Attributes:
        data: the questions, after `load`.
    """

    def __init__(self) -> None:
        self.data: list[dict[str, Any]] = []

    @abstractmethod
    def load(self) -> list[dict[str, Any]]:
        """Read and check the questions."""

    def get_sample(self, index: int) -> dict[str, object]:
        return self._loaded()[index]

    def __len__(self) -> int:
        return len(self._loaded())

    def __iter__(self) -> Iterator[dict[str, object]]:
        return iter(self._loaded())

    def _loaded(self) -> list[dict[str, Any]]:
        return self.data or self.load()


class QuestionEvaluator(ABC):
    """Evaluates an agent: anything with `run(text)`, a function, or a name such as `openai:MODEL`."""

    dataset: Questions

    def evaluate(self, agent: Any, max_samples: int | None = None) -> dict[str, Any]:
        """Ask the first `max_samples` questions (all for None or 0), each once; the results as a plain dict.

        Raises:
            BadInput: no questions, or the endpoint of the agent's model refuses us.
        """
        items = first_of(self._questions(), max_samples)
        if not items:
            raise BadInput("There are no questions to ask.")
        results = self._evaluate_items(agent, items)
        if not results["total_samples"]:
            rows = results["detailed_results"]
            why = next((row["error"] for row in rows if row.get("error")), "-")
            error = say("None of the {count} questions was scored. {reason}", count=len(rows), reason=why)
            tell(error)
            results["error"] = str(error)
        return results

    def evaluate_sample(self, agent: object, sample: Mapping[str, object]) -> dict[str, object]:
        """Ask one question, in any form of the chapter."""
        row: dict[str, object] = self._evaluate_items(agent, [sample])["detailed_results"][0]
        return row

    def _questions(self) -> Iterable[Mapping[str, object]]:
        return self.dataset

    @abstractmethod
    def _evaluate_items(self, agent: object, items: Sequence[JsonObject]) -> dict[str, Any]: ...


def write_lines(path: str | Path, lines: Iterable[Mapping[str, object]]) -> Path:
    return write(Path(path), "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), replace=True)


def first_of(items: Iterable[object], most: int | None) -> list[Any]:
    """Return the first `most` items; 0 and None are all of them.

    Raises:
        BadInput: a number below 0, or none at all.
    """
    count = 0 if most is None else whole("max_samples", most)
    if count < 0:
        raise BadInput("max_samples has to be 0 (all) or more, not {number}.", number=count)
    return list(items)[: count or None]
