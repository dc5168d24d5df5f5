"""Tell what the name of a task means; whoever wants to know asks here."""

from contextlib import suppress
from pathlib import Path
from typing import Literal

from proctor import registry
from proctor.core.errors import BadInput
from proctor.core.packages import extra_with
from proctor.core.parts import TaskFilesPart

TaskKind = Literal["benchmark", "kind", "data", "files", "code"]


def kind_of(name: str) -> TaskKind:
    """Return the kind of task that a name means; a benchmark takes precedence over a folder of its name.

    >>> [kind_of(name) for name in ("bfcl/simple_python", "questions.jsonl", "shop.evalset.json:a,b", "./mine.py:task")]
    ['benchmark', 'data', 'files', 'code']
    """
    if is_plain_benchmark(name):
        return "benchmark"
    if is_of_kind(name):
        return "kind"
    prefix, colon, _ = name.partition(":")
    if colon and registry.TASK_FILES.knows(prefix) and task_files(name) is not None:
        return "files"  # also where the rest is the name of a data file
    from proctor.datasets import files

    path = Path(name)
    if files.is_data_file(name) and not path.is_dir():
        return "data"
    is_benchmark = path.is_dir() and registry.BENCHMARKS.knows(name)
    if not is_benchmark and task_files(name) is not None:
        return "files"
    if files.is_data_file(name) or (files.is_data(name) and not is_benchmark):
        return "data"
    return "code" if registry.is_path(name) or ":" in name else "benchmark"


def is_plain_benchmark(name: str) -> bool:
    """True if a name can mean nothing but a benchmark, which is seen without loading what reads files."""
    is_file = "." in name or ":" in name or Path(name).exists()
    return not is_file and registry.BENCHMARKS.knows(name.partition("/")[0])


def is_of_kind(name: str) -> bool:
    """True if a name begins with a kind of task, such as `judged-items:FILE`, also where its package is not installed.

    >>> is_of_kind("judged-items:answers.csv"), is_of_kind("./mine.py:task")
    (True, False)
    """
    kind = name.partition(":")[0]
    return registry.TASK_KINDS.knows(kind) or extra_with("proctor.task_kinds", kind) is not None


def task_files(name: str) -> TaskFilesPart | None:
    """Return the kind of files that are tasks by themselves which a name means, such as eval sets; None for any other name.

    A file of Python is none of them; no package has to be loaded to ask.
    """
    if name.partition(":")[0].endswith(".py"):
        return None
    with suppress(BadInput):  # a package that cannot be loaded, which nobody named
        return next((part for _, part in registry.TASK_FILES.each() if part.is_mine(name)), None)
    return None
