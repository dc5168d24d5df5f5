"""Start workers of the bridge quickly, with rows of our own in place of data that are not here: a program of tests.

`python guest_rows.py PROGRAM` imports the program of a worker, and what it imports late, once. Each line of its input, with a folder
and the fields of the rows, becomes a process of its own in which the program talks over the socket in that folder, its home.
"""

import asyncio
import csv
import importlib
import importlib.util
import io
import json
import os
import signal
import socket
import sys
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

from rows_of_tests import rows_of, stand_in

FIELDS: dict[str, Any] = {}


def download(url: str, path: str, *_: Any, **__: Any) -> None:
    """Write the rows where inspect_evals keeps what it downloads."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    if path.endswith(".csv"):
        file = io.StringIO()
        writer = csv.DictWriter(file, [*FIELDS] or ["_"])
        writer.writeheader()
        writer.writerows(rows_of(FIELDS))
        Path(path).write_text(file.getvalue(), encoding="utf-8")
    elif path.endswith(".jsonl"):
        Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows_of(FIELDS)), encoding="utf-8")
    else:
        Path(path).write_text(json.dumps(rows_of(FIELDS)), encoding="utf-8")


def fetch(url: str, checksum: str, path: Path) -> None:
    download(url, str(path))


def move_into(folder: Path) -> None:
    """Let inspect_evals keep its data in a folder, whichever of its modules has a path of the usual one, and fetch nothing."""
    usual: Any = getattr(sys.modules.get("inspect_evals.constants"), "INSPECT_EVALS_CACHE_PATH", None)
    for name, module in [*sys.modules.items()] if usual is not None else ():
        for key, value in [*vars(module).items()] if name.startswith("inspect_evals") else ():
            if isinstance(value, Path) and value.is_relative_to(usual):
                setattr(module, key, folder / value.relative_to(usual))
            elif key == "_download_remote":
                setattr(module, key, download)
            elif key == "download" and getattr(value, "__module__", "").startswith("inspect_ai"):
                setattr(module, key, fetch)


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    program = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def warm_up(program: Any) -> None:
    """Import what Inspect imports at its first evaluation; remember in which folder a task of lm-eval is."""
    if hasattr(program, "talk"):
        importlib.import_module("inspect_evals._registry")
        from inspect_ai import Task, eval_async
        from inspect_ai.dataset import Sample

        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(eval_async(Task(dataset=[Sample(input="?")], solver=[]), model="mockllm/model", log_dir=folder))
    else:
        program._folder_of = cache(program._folder_of)


def serve(home: str, program: Any) -> None:
    os.environ |= {"HOME": home, "XDG_CACHE_HOME": f"{home}/cache", "XDG_DATA_HOME": f"{home}/data"}
    os.environ |= {"HF_HOME": f"{home}/hf", "TMPDIR": home}
    stand_in(FIELDS)
    move_into(Path(home, "inspect_evals"))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"{home}/socket")
        requests, replies = connection.makefile("rb"), connection.makefile("wb")
        replies.write(json.dumps({"pid": os.getpid()}).encode() + b"\n")
        replies.flush()
        (program.talk if hasattr(program, "talk") else partial(call, program))(requests, replies)


def call(program: Any, requests: Any, replies: Any) -> None:
    """Call the functions of a program that does not talk."""
    for line in requests:
        asked = json.loads(line)
        try:
            reply = {"value": getattr(program, asked["function"])(**asked["arguments"])}
        except Exception as error:
            reply = {"raised": [type(error).__name__, str(error)]}
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


def main() -> None:
    program = load(Path(sys.argv[1]))
    warm_up(program)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        asked = json.loads(line)
        if not hasattr(program, "talk"):
            program._folder_of(asked["task"])
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            FIELDS.update(asked["fields"])
            try:
                serve(asked["home"], program)
            finally:
                os._exit(0)


if __name__ == "__main__":
    main()
