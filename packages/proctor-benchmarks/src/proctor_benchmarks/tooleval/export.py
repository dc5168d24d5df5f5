"""Write a run as official converted answers, which the official programs judge.

<folder>/model_predictions_converted/<model>/<set>.json
"""

import json
from collections.abc import Iterable
from pathlib import Path

from proctor.chat.messages import to_tools
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.trial import Trial
from proctor.runtime.files import folder_name, write_whole
from proctor_benchmarks.tooleval.answers import answer_of


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, model: str) -> list[Path]:
    """Write the first attempts that were scored, and say where.

    Raises:
        BadInput: a model name that is no folder name, a sample that is not of ToolEval, or nothing to write.
    """
    name = folder_name(model)
    found: dict[str, dict[str, object]] = {}
    for sample, trial in trials:
        if "apis" not in sample.meta:
            raise BadInput("The sample '{id}' is not of ToolEval.", id=sample.id)
        if trial.attempt == 0 and trial.outcome == "scored":
            of, _, id = sample.id.partition("/")
            found.setdefault(of, {})[id] = {
                "query": sample.meta["query"],
                "available_tools": [tool["function"] for tool in to_tools(sample.turns[0].tools, {})],
                "answer": answer_of(trial.trajectory),
            }
    if not found:
        raise BadInput("The run holds no scored trial to export.")
    converted = folder / "model_predictions_converted" / name
    return [write_whole(converted / f"{of}.json", json.dumps(by_id, indent=2)) for of, by_id in found.items()]
