"""Print the test files that a change reaches, the nearest first, until a budget of CPU seconds is spent (`make quick`).

The change is what differs from the merge base with `main` (or the branch in $BASE), committed or not. A test file is
as far away as the shortest chain of imports from it to a changed file; a name in quotes counts too, as parts are found
by their names: "rouge" in a test leads to scorers/rouge.py. Nothing is imported to know.

    reach.py [SECONDS [all]]     with `all`, what is not reached follows, the cheapest first (`make check`)
"""

import ast
import os
import pickle
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from pathlib import Path

from seconds import of_files
from sources import ROOT, ROOTS, module_name, modules, shared_folders

BUDGET = "45"  # CPU seconds on two cores, next to what starting takes
UNKNOWN = 1.0  # seconds of a file that is not in the table yet
LEFT_OUT = ("tests/e2e/", "tests/docs/", "tests/torture/")  # by folder; the marks `slow` and `model` by pytest
CACHE = ROOT / ".venv" / "reach.pickle"
WORD = re.compile(r"[a-z][a-z0-9_]*")

Names = tuple[frozenset[str], frozenset[str]]  # what a file imports, and the words in its quotes


def changed_files(base: str) -> set[Path]:
    since = git("merge-base", "HEAD", base) or ["HEAD"]
    return {
        ROOT / name for name in [*git("diff", "--name-only", since[0]), *git("ls-files", "-o", "--exclude-standard")]
    }


def git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], capture_output=True, text=True, cwd=ROOT, check=False).stdout.splitlines()


def names_in(text: str) -> Names:
    """Return the modules that a text imports, at its top or later, and the short words that it quotes."""
    imported: set[str] = set()
    quoted: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import():
                imported.update(alias.name for alias in node.names)
            case ast.ImportFrom(module=str(module)):
                imported.update(f"{module}:{alias.name}" for alias in node.names)
            case ast.Constant(value=str(value)) if len(value) < 60:
                quoted.update(WORD.findall(value))
    return frozenset(imported), frozenset(quoted)


def read(paths: Iterable[Path]) -> dict[Path, Names]:
    """Return the names in each file; what was read before and has not changed is remembered."""
    try:
        before: dict[tuple[str, int, int], Names] = pickle.loads(CACHE.read_bytes())
    except (OSError, pickle.UnpicklingError, EOFError):
        before = {}
    keys = {path: (str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in paths}
    now = {key: before.get(key) or names_in(path.read_text(encoding="utf-8")) for path, key in keys.items()}
    if now.keys() != before.keys() and CACHE.parent.is_dir():
        CACHE.write_bytes(pickle.dumps(now))
    return {path: now[key] for path, key in keys.items()}


def arrows(names: dict[Path, Names], files: dict[str, Path], others: set[Path]) -> dict[Path, dict[Path, int]]:
    """Return for each file those that use it, and how far away they are: an import 1, a name in quotes 2.

    Tests quote the names of parts, and anything quotes a file that is no module; a test also stands on its conftests.
    """
    stems = defaultdict(set)
    for path in [*files.values(), *others]:
        stems[path.parent.name if path.stem in ("__init__", "task") else path.stem].add(path)
    users: dict[Path, dict[Path, int]] = defaultdict(dict)
    for path, (imported, quoted) in names.items():
        test = ROOT / "tests" in path.parents
        for word in quoted & stems.keys():
            for one in stems[word] - {path}:
                if one in others or (test and ROOT / "tests" not in one.parents):
                    users[one][path] = 2
        used = {found for name in imported for found in _imported(name, files)}
        for one in used | ({folder / "conftest.py" for folder in path.parents} if test else set()):
            if one != path:
                users[one][path] = 1
    return users


def _imported(name: str, files: dict[str, Path]) -> Iterator[Path]:
    module, _, member = name.partition(":")
    for found in (f"{module}.{member}", module):
        if found in files:
            yield files[found]
            return


def distances(changed: set[Path], users: dict[Path, dict[Path, int]]) -> dict[Path, int]:
    far: dict[Path, int] = {}
    rim = [(0, path) for path in changed]
    heapify(rim)
    while rim:
        steps, path = heappop(rim)
        if path not in far:
            far[path] = steps
            for user, step in users.get(path, {}).items():
                heappush(rim, (steps + step, user))
    return far


def main() -> None:
    changed = changed_files(os.environ.get("BASE", "main"))
    tests = sorted((ROOT / "tests").rglob("*.py"))
    files = dict(modules())
    files |= {module_name(path, folder): path for folder in shared_folders() for path in folder.glob("*.py")}
    others = {path for path in changed if path.suffix != ".py" and {*ROOTS, ROOT / "tests"} & {*path.parents}}
    far = distances(changed, arrows(read({*files.values(), *tests}), files, others))
    rooms = {path.parent.name for path in changed} | {path.parent.parent.name for path in changed}
    seconds = of_files()

    def cost(path: Path) -> float:
        return seconds.get(path.relative_to(ROOT).as_posix(), UNKNOWN)

    reached = [path for path in tests if path.stem.startswith("test_") and path in far]
    reached.sort(key=lambda path: (far[path], path.parent.name not in rooms, cost(path)))
    budget, *every = sys.argv[1:] or [BUDGET]
    if every:
        rest = {path for path in tests if path.stem.startswith("test_")} - {*reached}
        reached += sorted(rest, key=lambda path: (cost(path), path))
    taken, left, spent = [], [], 0.0
    for path in reached:
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(LEFT_OUT) or spent + cost(path) > float(budget):
            left.append(name)
        else:
            taken.append(name)
            spent += cost(path)
    print(
        f"{len(changed)} files changed; {len(taken)} of {len(reached)} test files, about {spent:.0f} s of CPU.",
        file=sys.stderr,
    )
    if left:
        print("Left for `make test`:", *left[:8], *([f"and {len(left) - 8} more"] if left[8:] else []), file=sys.stderr)
    sources = [
        path
        for path in changed
        if path.suffix == ".py" and path.exists() and any(root in path.parents for root in ROOTS)
    ]
    print(
        *taken,
        *(path.relative_to(ROOT).as_posix() for path in sorted(sources) if ">>> " in path.read_text(encoding="utf-8")),
    )


if __name__ == "__main__":
    main()
