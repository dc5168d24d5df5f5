"""Our verdicts against recorded ones of the official scorer.

A line: {"id": "gaia-0", "model_answer": "1,234", "ground_truth": "1234", "verdict": true}
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from proctor.core.parity import Checked
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.gaia.scorer import question_score


class GaiaVerdict(msgspec.Struct, frozen=True):
    id: str
    model_answer: str | None
    ground_truth: str
    verdict: bool


def check_corpus(path: Path, data: str | None = None) -> Iterator[Checked]:  # noqa: ARG001 - the rule needs no data
    """Check every line.

    Raises:
        BadInput: a line that cannot be read; names file and line.
    """
    for _, line in read_json_lines(path, GaiaVerdict):
        match = question_score(line.model_answer, line.ground_truth)
        yield Checked(
            id=line.id,
            agrees=match.right == line.verdict,
            ours=str(match.right),
            official=str(line.verdict),
            rule=match.reason,
        )
