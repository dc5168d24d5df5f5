"""Tell the code of Proctor's own packages from that of users and plugins."""

import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

PACKAGES = (
    "proctor",
    "proctor_adapters",
    "proctor_audit",
    "proctor_benchmarks",
    "proctor_ci",
    "proctor_compat",
    "proctor_judging",
    "proctor_web",
)


def is_ours(module: str) -> bool:
    """Return True for a module of one of our packages.

    >>> is_ours("proctor_benchmarks.gaia.scorer"), is_ours("proctor.api"), is_ours("proctor_mine")
    (True, True, False)
    """
    return module.partition(".")[0] in PACKAGES


@lru_cache(maxsize=1)
def own_folders() -> tuple[str, ...]:
    """Return the folder of each of our packages that is installed, with the separator at its end."""
    specs = [find_spec(name) for name in PACKAGES]
    files = [Path(spec.origin) for spec in specs if spec is not None and spec.origin is not None]
    return tuple(f"{file.resolve().parent}{os.sep}" for file in files)
