"""Compare tasks of the real lm-eval, played by it alone and by Proctor: `python in_lmeval_parity.py ROWS.jsonl [TASK…]`.

The task files are lm-eval's own, their data are rows of ours. Proctor's side is all of it, but that the worker is this process:
one process for each task, as starting four workers for each takes a minute.
"""

import importlib.util
import json
import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from lmeval_rows import stand_in

from proctor_adapters.bridge import lmeval as bridged


def load_program() -> Any:
    spec = importlib.util.spec_from_file_location("lmeval_worker_program", bridged.PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


class WorkersHere:
    """Calls the functions of the worker's program in this process, with what would go through the pipe."""

    def __init__(self, program: Any) -> None:
        self._program = program

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def run(self, function: str, **arguments: object) -> Any:
        return json.loads(json.dumps(getattr(self._program, function)(**json.loads(json.dumps(arguments)))))


def compare(task: str, rows: Mapping[str, str], program: Any) -> dict[str, Any]:
    """Return how many lines of a comparison agree, and the first that does not."""
    stand_in(rows)
    bridged._workers = lambda _: WorkersHere(program)  # type: ignore[assignment, return-value]
    lines = [*bridged.check_parity(task)]
    differing = [f"{line.id}: {line.ours} | {line.official}" for line in lines if not line.agrees]
    return {"task": task, "lines": len(lines), "differ": differing[:1]}


def main() -> None:
    file, *wanted = sys.argv[1:]
    logging.disable(logging.CRITICAL)
    program = load_program()
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "rows" not in row or (wanted and row["task"] not in wanted):
            continue
        child = os.fork()
        if child == 0:
            try:
                print(json.dumps(compare(row["task"], row["rows"], program)), flush=True)
            except BaseException as error:  # noqa: BLE001 - of one task, and read by the test
                print(json.dumps({"task": row["task"], "error": f"{type(error).__name__}: {error}"[:500]}), flush=True)
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
