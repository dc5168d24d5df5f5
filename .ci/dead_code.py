"""Fail when a definition in the source has no use there: `python .ci/dead_code.py FOLDER…`.

Vulture finds the suspects: functions, methods, properties, classes and constants. Names in templates and data files count as
uses, and so do the names in `uncalled.txt`, which other code calls: a library that we subclass, or people who know the names of
another system. A name on that list that is no suspect any more fails too, so that the list does not grow stale.
"""

import re
import sys
from pathlib import Path

from vulture import Vulture

ALLOWED = Path(__file__).with_name("uncalled.txt")
READERS = {".jinja", ".html", ".js", ".toml"}
KINDS = {"function", "method", "property", "class"}  # fields of structs are "variables", and read by others


def main(folders: list[str]) -> int:
    """Print each suspect as `file:line: what`, and each stale name of the list; return 1 if there is any."""
    search = Vulture(
        ignore_names=["__*__", "_repr_*_", "pytest_*", "test_*"],
        ignore_decorators=["@*.command*", "@cli*", "@check*"],
    )
    search.scavenge(folders, exclude=["*/example/*"])  # those are programs of other projects, in short
    allowed = {line.split("#")[0].strip() for line in ALLOWED.read_text(encoding="utf-8").splitlines()} - {""}
    read = {word for path in _files(folders) for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    unused = [found for found in search.get_unused_code() if found.typ in KINDS or found.name.isupper()]
    suspects = [found for found in unused if found.name not in read]
    for found in suspects:
        if found.name not in allowed:
            print(f"{found.filename}:{found.first_lineno}: unused {found.typ} '{found.name}'")
    stale = allowed - {found.name for found in suspects}
    for name in sorted(stale):
        print(f"{ALLOWED}: '{name}' is used, or gone: take it off the list")
    return 1 if stale or any(found.name not in allowed for found in suspects) else 0


def _files(folders: list[str]) -> list[Path]:
    inside = [path for folder in folders for path in Path(folder).rglob("*") if path.suffix in READERS]
    return inside + [path for folder in folders for path in Path(folder).parent.glob("pyproject.toml")]  # entry points


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
