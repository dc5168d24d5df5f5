"""Runs in a confined worker: makes the task again by its name, and scores answers with the scorers of the user."""

import builtins
import os
import signal
from collections.abc import Mapping
from typing import Any, NoReturn

import msgspec
from msgspec.structs import replace

from proctor_audit.answers import PROBE, AnswerVerdicts, AuditAnswer
from proctor_audit.cage_faults import NOT_ALLOWED, NotAllowedError, watch_oracle, watch_scorer
from proctor_audit.opening import open_task
from proctor_audit.request import TaskRequest
from proctor_audit.scoring import LocalScorer

_probed: list[object] = []  # what the probe was called with, by a scorer that runs what an answer holds
_scorer_by_request: dict[str, tuple[LocalScorer, Mapping[str, Any]]] = {}


def score(request: Mapping[str, Any], folder: str, sample: str, answer: Mapping[str, Any], seconds: float) -> Any:
    """Return the verdicts on an answer to the sample of an id, as JSON; a scorer that takes too long is a fault."""
    key = repr((request, folder))
    if key not in _scorer_by_request:
        os.chdir(folder)
        opened = open_task(msgspec.convert(request, TaskRequest))
        known: Mapping[str, Any] = {each.id: each for each in opened.samples}
        watched = [watch_scorer(each) for each in opened.scorers]
        _scorer_by_request[key] = (LocalScorer(watch_oracle(opened.task), watched, known), known)
    scorer, by_id = _scorer_by_request[key]
    signal.signal(signal.SIGALRM, _too_slow)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    _probed.clear()
    try:
        verdicts = scorer.score(by_id[sample], msgspec.convert(answer, AuditAnswer))
    except _TooSlowError:
        verdicts = AnswerVerdicts(fault="time_limit")
    except NotAllowedError as error:
        verdicts = AnswerVerdicts(fault=f"{NOT_ALLOWED} {error}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    verdicts = replace(verdicts, ran=bool(_probed))
    return msgspec.to_builtins(verdicts, enc_hook=str)


def _probe(value: object = None) -> object:
    _probed.append(value)
    return value


setattr(builtins, PROBE, _probe)


class _TooSlowError(GeneratorExit):  # as `engine.blame.from_outside` knows it, so that it becomes no verdict
    pass


def _too_slow(*_: object) -> NoReturn:
    raise _TooSlowError
