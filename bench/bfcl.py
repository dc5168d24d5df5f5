"""How fast BFCL is scored."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure, cpu_of, in_turn, seconds_of

CORPUS = Path(__file__).parents[1] / "tests" / "data" / "bfcl_verdicts.jsonl.gz"


def measure() -> Iterator[Figure]:
    """Verdicts a second over the corpus, and the CPU of scoring a full single-turn result set."""
    from proctor.runtime.json_file import read_json_lines
    from proctor_benchmarks.bfcl import dataset, parity, parity_lines

    corpus = read_json_lines(CORPUS, parity_lines.RecordedVerdict)
    one_turn = (*dataset.SINGLE_TURN, "format_sensitivity")
    lines = [line for _, line in corpus if line.category in one_turn]
    folder_of_data = dataset.locate(None)
    entries = {
        category: {entry.id: entry for entry in dataset.entries(folder_of_data, category)}
        for category in {line.category for line in lines}
    }

    def verdicts() -> None:
        for line in lines:
            parity.check_line(line, entries[line.category])

    (seconds,) = in_turn(lambda: seconds_of(verdicts), rounds=3)
    yield Figure(what="verdicts a second, decode and check", value=len(lines) / seconds, unit="/s", at_least=25_000)
    with tempfile.TemporaryDirectory() as folder:
        results = results_of(Path(folder), "single_turn", "oracle-FC")
        command = ["-m", "proctor", "score", "bfcl/single_turn", "--replies", str(results), "--store"]
        count = iter(range(1_000))
        (cpu,) = in_turn(lambda: cpu_of([*command, f"{folder}/{next(count)}.db", "--json"]))
        yield Figure(what="CPU of scoring all 3,641 single-turn samples, all in", value=cpu, unit="s", at_most=1.0)


def results_of(folder: Path, categories: str, model: str) -> Path:
    """Official result files with a right answer for every sample; the name of the model says how they are written."""
    from proctor.core.trial import Trial
    from proctor_benchmarks import bfcl
    from proctor_benchmarks.bfcl import export

    task = bfcl.task(categories)
    assert task.oracle is not None
    assert not callable(task.samples)
    oracle = task.oracle
    trials = (
        (sample, Trial(run_id="b", sample_id=sample.id, outcome="scored", trajectory=oracle(sample)))
        for sample in task.samples
    )
    export.write(trials, folder, model)
    return folder / "result"
