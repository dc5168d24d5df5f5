"""Our verdicts against recorded ones of the official scorer.

A line: {"id": "gaia-0", "model_answer": "1,234", "ground_truth": "1234", "verdict": true}
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from proctor.benchmarks.gaia.scorer import question_score
from proctor.core.errors import BadInput
from proctor.core.parity import Checked
from proctor.core.validation import in_words


class Line(msgspec.Struct, frozen=True):
    id: str
    model_answer: str | None
    ground_truth: str
    verdict: bool


def check_corpus(path: Path, data: str | None = None) -> Iterator[Checked]:  # noqa: ARG001 - the rule needs no data
    """Check every line.

    Raises:
        BadInput: a line that cannot be read; names file and line.
    """
    decoder = msgspec.json.Decoder(Line)
    with path.open("rb") as lines:
        for number, text in enumerate(lines, start=1):
            try:
                line = decoder.decode(text)
            except msgspec.MsgspecError as error:
                raise BadInput("{path}, line {line}: {error}.", path=path, line=number, error=in_words(error)) from None
            match = question_score(line.model_answer, line.ground_truth)
            yield Checked(
                id=line.id,
                agrees=match.right == line.verdict,
                ours=str(match.right),
                official=str(line.verdict),
                rule=match.reason,
            )
