"""Runs in a confined worker: makes the task again by its name, and scores answers with the scorers of the user."""

import os
import signal
from collections.abc import Mapping
from typing import Any, NoReturn

import msgspec

from proctor_audit.answers import AnswerVerdicts, AuditAnswer
from proctor_audit.opening import open_task
from proctor_audit.request import TaskRequest
from proctor_audit.scoring import LocalScorer

_scorer_by_request: dict[str, tuple[LocalScorer, Mapping[str, Any]]] = {}


def score(request: Mapping[str, Any], folder: str, sample: str, answer: Mapping[str, Any], seconds: float) -> Any:
    """Return the verdicts on an answer to the sample of an id, as JSON; a scorer that takes too long is a fault."""
    key = repr((request, folder))
    if key not in _scorer_by_request:
        os.chdir(folder)
        opened = open_task(msgspec.convert(request, TaskRequest))
        known: Mapping[str, Any] = {each.id: each for each in opened.samples}
        _scorer_by_request[key] = (LocalScorer(opened.task, opened.scorers, known), known)
    scorer, by_id = _scorer_by_request[key]
    signal.signal(signal.SIGALRM, _too_slow)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        verdicts = scorer.score(by_id[sample], msgspec.convert(answer, AuditAnswer))
    except _TooSlowError:
        verdicts = AnswerVerdicts(fault="time_limit")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return msgspec.to_builtins(verdicts, enc_hook=str)


class _TooSlowError(GeneratorExit):  # as `engine.blame.from_outside` knows it, so that it becomes no verdict
    pass


def _too_slow(*_: object) -> NoReturn:
    raise _TooSlowError
