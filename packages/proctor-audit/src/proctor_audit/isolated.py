"""Score with code of users in confined workers: without a network, with limits of time, memory and files."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import EnvironmentFailed
from proctor.core.sample import Sample
from proctor.isolation import WorkerLimits, Workers, find_packages
from proctor.isolation.limits import MEGABYTE, WorkerRaised
from proctor_audit.answers import AnswerVerdicts, AuditAnswer
from proctor_audit.declarations import DeclaredAnswers
from proctor_audit.playing import PlayedCall
from proctor_audit.request import TaskRequest

PROGRAM = Path(__file__).with_name("worker_program.py")
START_SECONDS = 60.0  # to make the task, in the first call
MOST_FAULTS = 5  # workers that may die before no further one is started


class IsolatedScorer:
    """Scores in one worker, which is replaced when it dies.

    Args:
        hash_seed: decides the order of sets and what `hash` returns for texts in the worker.
    """

    def __init__(self, request: TaskRequest, *, seconds: float, hash_seed: int = 0) -> None:
        self._asked = request
        self._again: IsolatedScorer | None = None
        self._request = msgspec.to_builtins(request)
        self._seconds = seconds
        self._runner = asyncio.Runner()
        limits = WorkerLimits(seconds=START_SECONDS + seconds, memory_bytes=2_048 * MEGABYTE)
        paths = [Path(folder) for folder in sys.path if folder and Path(folder).is_dir()]
        paths = list(dict.fromkeys([*find_packages("proctor", "proctor_audit", "msgspec"), *paths]))
        variables = {"PYTHONHASHSEED": str(hash_seed)}
        self._workers = Workers(PROGRAM, paths=paths, size=1, limits=limits, variables=variables)
        self._runner.run(self._workers.__aenter__())
        self._faults = 0

    def score(self, sample: Sample, answer: AuditAnswer) -> AnswerVerdicts:
        said = self._ask("score", sample, answer=msgspec.to_builtins(answer))
        return AnswerVerdicts(fault=said) if isinstance(said, str) else msgspec.convert(said, AnswerVerdicts)

    def score_elsewhere(self, sample: Sample, answer: AuditAnswer) -> AnswerVerdicts:
        if self._again is None:
            self._again = IsolatedScorer(self._asked, seconds=self._seconds, hash_seed=1)
        return self._again.score(sample, answer)

    def declared(self, sample: Sample) -> DeclaredAnswers | str:
        said = self._ask("tell", sample, what="declared")
        return said if isinstance(said, str) else msgspec.convert(said, DeclaredAnswers)

    def oracle_calls(self, sample: Sample) -> Sequence[PlayedCall] | str:
        said = self._ask("tell", sample, what="oracle_calls")
        return said if isinstance(said, str) else msgspec.convert(said, list[PlayedCall])

    def _ask(self, function: str, sample: Sample, **given: object) -> Any:
        """Return what a function of the worker returns; the kind of failure, as text, where it raised or the worker died."""
        if self._faults >= MOST_FAULTS:
            return "too_many_faults"
        asked = {"request": self._request, "folder": str(Path.cwd()), "sample": sample.id, "seconds": self._seconds}
        try:
            return self._runner.run(self._workers.run(function, **asked, **given))
        except EnvironmentFailed as error:
            self._faults += 1
            return error.kind
        except WorkerRaised as error:
            self._faults += 1
            return str(error)

    def close(self) -> None:
        if self._again is not None:
            self._again.close()
        self._runner.run(self._workers.__aexit__())
        self._runner.close()
