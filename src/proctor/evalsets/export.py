"""`proctor export RUN --format adk`: the result files of ADK."""

from collections.abc import Iterable
from pathlib import Path

from proctor.core.sample import Sample
from proctor.core.trial import Trial
from proctor.evalsets.results import write as write_results


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, model: str) -> list[Path]:  # noqa: ARG001 - ADK names the app
    """One result file for each eval set."""
    return write_results(trials, folder)
