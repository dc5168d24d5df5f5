"""Every task of inspect_evals 0.26.0, as it was loaded without a network, Docker and extras: each runs, or a sentence says why not."""

import json
from collections import Counter
from pathlib import Path

from proctor_adapters.bridge.refusals import of_loading
from proctor_adapters.bridge.worker import GuestRaised

RECORDED = Path(__file__).with_name("inspect_evals-0.26.0.jsonl")
SENTENCES = {
    "The data of {task} are not here": "data",
    "{task} needs a package": "package",
    "{task} needs Docker": "docker",
    "{task} cannot be loaded": "other",
}


def test_every_task_is_loaded_or_refused_with_a_sentence_that_says_what_to_do() -> None:
    counts: Counter[str] = Counter()
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "type" not in row:
            counts["docker" if row["sandbox"] else "loaded"] += 1
            continue
        refusal = of_loading(f"inspect:inspect_evals/{row['task']}", GuestRaised(row["type"], row["text"]))
        counts[next(kind for start, kind in SENTENCES.items() if refusal.sentence.text.startswith(start))] += 1
    assert counts == {"data": 183, "docker": 31, "package": 19, "loaded": 13, "other": 3}
    assert counts.total() == 249
