"""Runs in a confined worker: makes the task again by its name, and scores answers with the scorers of the user."""

import builtins
import os
import signal
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NoReturn

import msgspec
from msgspec.structs import replace

from proctor.core.sample import Sample
from proctor_audit.answers import PROBE, AnswerVerdicts, AuditAnswer
from proctor_audit.cage_faults import NOT_ALLOWED, NotAllowedError, watch_oracle, watch_scorer
from proctor_audit.declarations import read_declared
from proctor_audit.opened_files import noting_files
from proctor_audit.opening import OpenedTask, open_task
from proctor_audit.request import TaskRequest
from proctor_audit.scoring import LocalScorer


class _WorkerTask(msgspec.Struct, frozen=True):
    opened: OpenedTask
    scorer: LocalScorer
    samples: Mapping[str, Sample]


_probed: list[object] = []  # what the probe was called with, by a scorer that runs what an answer holds
_task_by_request: dict[str, _WorkerTask] = {}


def score(request: Mapping[str, Any], folder: str, sample: str, seconds: float, answer: Mapping[str, Any]) -> Any:
    """Return the verdicts on an answer to the sample of an id, as JSON; a scorer that takes too long is a fault."""
    task = _opened(request, folder)
    _probed.clear()

    def call() -> AnswerVerdicts:
        return task.scorer.score(task.samples[sample], msgspec.convert(answer, AuditAnswer))

    with noting_files() as files:
        said = _within(seconds, call)
    verdicts = AnswerVerdicts(fault=said) if isinstance(said, str) else said
    return msgspec.to_builtins(replace(verdicts, ran=bool(_probed), opened=tuple(files)), enc_hook=str)


def tell(request: Mapping[str, Any], folder: str, sample: str, seconds: float, what: str) -> Any:
    """Return the answers that scorers declare for the sample of an id, or the calls that the task says are right, as JSON.

    Where something kept them from it, its kind.
    """
    task = _opened(request, folder)
    ask = task.scorer.oracle_calls if what == "oracle_calls" else partial(read_declared, task.opened.scorers)
    return msgspec.to_builtins(_within(seconds, lambda: ask(task.samples[sample])), enc_hook=str)


def _opened(request: Mapping[str, Any], folder: str) -> _WorkerTask:
    key = repr((request, folder))
    if key not in _task_by_request:
        os.chdir(folder)
        opened = open_task(msgspec.convert(request, TaskRequest))
        samples = {each.id: each for each in opened.samples}
        watched = [watch_scorer(each) for each in opened.scorers]
        _task_by_request[key] = _WorkerTask(opened, LocalScorer(watch_oracle(opened.task), watched, samples), samples)
    return _task_by_request[key]


def _within(seconds: float, call: Callable[[], Any]) -> Any:
    """Return what a call returns, or the kind of what ended it."""
    signal.signal(signal.SIGALRM, _too_slow)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return call()
    except _TooSlowError:
        return "time_limit"
    except NotAllowedError as error:
        return f"{NOT_ALLOWED} {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _probe(value: object = None) -> object:
    _probed.append(value)
    return value


setattr(builtins, PROBE, _probe)


class _TooSlowError(GeneratorExit):  # as `engine.blame.from_outside` knows it, so that it becomes no verdict
    pass


def _too_slow(*_: object) -> NoReturn:
    raise _TooSlowError
