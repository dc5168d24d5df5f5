"""Run the measurements and print them beside what we hold to. One file a subject, each with `measure()`."""

import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import bench
from bench.figure import Figure


def main() -> None:
    """Measure the subjects named on the command line, or all."""
    known = [module.name for module in iter_modules(bench.__path__) if hasattr(_module(module.name), "measure")]
    # a number is that of the rounds, for those who simulate; a file is for those who replay one
    names = [name for name in sys.argv[1:] if not name.isdigit() and not Path(name).is_file()]
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"Nothing to measure is called {', '.join(unknown)}. Known: {', '.join(known)}.")
    for name in names or known:
        print(f"{name}:", flush=True)
        for figure in _module(name).measure():
            print(f"  {_line(figure)}", flush=True)


def _module(name: str):  # type: ignore[no-untyped-def]
    return import_module(f"bench.{name}") if not name.startswith("__") else None


def _line(figure: Figure) -> str:
    mark = "  " if figure.holds is None else "ok" if figure.holds else "!!"
    return f"{mark} {figure.what:<72} {figure.value:>10.3g} {figure.unit:<12} {figure.bound}"


if __name__ == "__main__":
    main()
