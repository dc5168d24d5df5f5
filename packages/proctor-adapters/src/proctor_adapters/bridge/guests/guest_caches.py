"""Give a confined worker cache folders of its own, in which what is in those of the user can be read."""

import os
from pathlib import Path

MOST_FILES = 100_000
WHOLE = ("hub", "nltk_data")  # linked as they are; of others each file, as libraries write locks next to what they read
KEYS = ("token", "stored_tokens")  # of the hub, which nobody needs without a network


def link_caches() -> None:
    """Make the folders that `PROCTOR_READS_*` names for the variable of that ending, and link what is in them."""
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "HF_HOME"):
        theirs = os.environ.get(f"PROCTOR_READS_{name}")
        if theirs is None:
            continue
        own = Path(os.environ["HOME"], name)
        own.mkdir()
        os.environ[name] = str(own)
        for entry in Path(theirs).iterdir() if Path(theirs).is_dir() else ():
            if entry.name in KEYS:
                continue
            if entry.name in WHOLE:
                (own / entry.name).symlink_to(entry)
            elif entry.name.startswith(("inspect_evals", "lm_eval", "lm-eval")) or name == "HF_HOME":
                _mirror(entry, own / entry.name)


def _mirror(source: Path, target: Path) -> None:
    """Make the folders of a tree, and link the files in them, but no locks."""
    if source.is_file():
        target.symlink_to(source)
        return
    linked = 0
    for folder, _, files in os.walk(source):
        here = target / Path(folder).relative_to(source)
        here.mkdir()
        for file in files:
            if not file.endswith((".lock", ".incomplete")):
                (here / file).symlink_to(Path(folder, file))
                linked += 1
        if linked > MOST_FILES:
            return
