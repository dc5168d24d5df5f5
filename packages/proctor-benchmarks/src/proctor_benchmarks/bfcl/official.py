"""Run the official evaluator, where the user has it installed, over exported results; so that its numbers can be compared with ours."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.installing import is_installed
from proctor_benchmarks.bfcl.dataset import result_path
from proctor_benchmarks.bfcl.export import result_folder

_MAX_SECONDS = 3_600


class UnknownModel(BadInput):
    """The official registry, which says how results are decoded, has no model of that name."""


def evaluate(folder: Path, model: str, categories: Sequence[str]) -> dict[str, float]:
    """Return the official accuracy of each category, over the results below `folder/result`.

    `model` is a name of the official registry: it decides how results are decoded.

    Raises:
        UnknownModel: the name is not in the official registry.
        BadInput: the tool is not installed, fails (its last line is in the message), or wrote no score.
    """
    command = [*_command(), "evaluate", "--model", model, "--test-category", ",".join(categories), "--partial-eval"]
    scores = {category: _score_file(folder, model, category) for category in categories}
    for file in scores.values():
        file.unlink(missing_ok=True)  # an old score must not pass for a new one
    environment = {
        "OPENAI_API_KEY": "not-used",  # the official handlers make a client even to evaluate
        **os.environ,
        "BFCL_PROJECT_ROOT": str(folder.absolute()),
        "PYTHONIOENCODING": "utf-8",
    }
    try:
        done = subprocess.run(  # noqa: S603 (no shell)
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_MAX_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput("The official tool could not be run: {reason}.", reason=error) from error
    if done.returncode != 0:
        reason = _last_line(done.stderr or done.stdout)
        if "Invalid model name" in reason:
            raise UnknownModel(
                "The official tool failed: {reason} Give a name of its registry with '--model' (see 'bfcl models'), of the same mode: native results need one that ends with -FC.",
                reason=reason,
            )
        raise BadInput("The official tool failed: {reason}", reason=reason)
    return {category: _accuracy(file, category) for category, file in scores.items()}


def _command() -> list[str]:
    if program := shutil.which("bfcl"):
        return [program]
    if is_installed("bfcl_eval"):
        return [sys.executable, "-m", "bfcl_eval"]
    raise BadInput(
        "The official BFCL tool is not installed. Install it in an environment of its own (pip install bfcl-eval; several GB) and put its 'bfcl' on the PATH."
    )


def _score_file(folder: Path, model: str, category: str) -> Path:
    name = result_folder(folder, model).name
    return result_path(folder / "score" / name, category, "score")


def _accuracy(file: Path, category: str) -> float:
    """Line 1 is `{"accuracy", "correct_count", "total_count"}`."""
    try:
        with file.open(encoding="utf-8") as lines:
            return float(json.loads(lines.readline())["accuracy"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            "The official tool wrote no score for {category}: expected {path}.", category=category, path=file
        ) from error


def _last_line(said: bytes) -> str:
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x09\x0b-\x1f\x7f]", "", said.decode("utf-8", "replace"))
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "-"
