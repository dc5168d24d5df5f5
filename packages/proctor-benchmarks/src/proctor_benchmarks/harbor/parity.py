"""Our readers of rewards and screens against recorded results of Harbor and Terminal-Bench.

{"id": "reward-21", "kind": "harbor_reward", "reward.json": null, "reward.txt": "１", "rewards": {"reward": 1.0}}
{"id": "pane-265", "kind": "terminal_bench_pane", "pane": "$ bash run-tests.sh\\n…", "raises": "ValueError"}
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.parity import Checked
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.boxes.rewards import RewardFault, read_rewards
from proctor_benchmarks.harbor.panes import all_passed, read_pane

RESULTS = ("rewards", "parser_results", "all_passed", "raises")


def check_corpus(path: Path, _: str | None = None) -> Iterator[Checked]:
    """Check every line; what the official code returned or raised has to be equal.

    Raises:
        BadInput: a line that cannot be read.
    """
    for number, line in read_json_lines(path, dict):
        try:
            ours = _read(line)
        except (KeyError, TypeError, AttributeError) as error:
            raise BadInput("{path}, line {line}: {error}.", path=path, line=number, error=error) from None
        if ours is None:
            yield Checked.unknown(line)
            continue
        official = {name: line[name] for name in RESULTS if name in line}
        texts = [json.dumps(result, sort_keys=True) for result in (ours, official)]
        yield Checked(id=str(line["id"]), agrees=texts[0] == texts[1], ours=texts[0][:400], official=texts[1][:400], rule=line["kind"])  # fmt: skip


def _read(line: Mapping[str, Any]) -> Mapping[str, Any] | None:
    match line["kind"]:
        case "harbor_reward":
            files = [None if line[name] is None else line[name].encode("utf-8", "surrogatepass") for name in ("reward.json", "reward.txt")]  # fmt: skip
            try:
                return {"rewards": read_rewards(*files)}
            except RewardFault as fault:
                return {"raises": fault.kind}
        case "terminal_bench_pane":
            try:
                results = read_pane(line["pane"])
            except ValueError as error:
                return {"raises": type(error).__name__}
            return {"parser_results": results, "all_passed": all_passed(results)}
    return None
