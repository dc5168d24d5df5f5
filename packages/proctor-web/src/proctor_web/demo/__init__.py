"""A small store of real runs, an agent and an eval set to look around in: `proctor web --demo`.

The runs are of the local model smollm2-135m on 45 questions of BFCL and 20 questions for capitals (`evalsets/capitals.jsonl`), of a
class of tools (`evalsets/task.py`), and of the agent `agents/teahouse.py` on `evalsets/teahouse.evalset.json`, before and after a
change of its code. Nothing in them was edited; the files are there to make them again.
"""

import gzip
import shutil
from importlib.resources import as_file, files
from pathlib import Path

from proctor_web.workspace import Workspace, open_workspace

STORE = "runs.db"


def open_demo(folder: Path, *, read_only: bool = False) -> Workspace:
    """Open a workspace with the runs, the agent and the eval set of the demo; they are copied to a folder, so that all can be changed."""
    bundled = files("proctor_web.demo")
    (folder / STORE).write_bytes(gzip.decompress(bundled.joinpath(f"{STORE}.gz").read_bytes()))
    for name in ("agents", "evalsets"):
        with as_file(bundled.joinpath(name)) as source:
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "__init__.py"))
    return open_workspace(
        (str(folder / STORE),), agents=folder / "agents", evalsets=folder / "evalsets", read_only=read_only
    )
