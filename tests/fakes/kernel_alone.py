"""An interpreter that finds the kernel and what all packages depend on, and none of our other packages."""

import re
import sys
from importlib.metadata import distribution
from pathlib import Path

import proctor


def link_dependencies(folder: Path) -> Path:
    """Fill a folder with links to all that is installed here but our own packages."""
    folder.mkdir()
    for packages in (Path(path) for path in sys.path if path.endswith("site-packages")):
        for path in packages.iterdir():
            if not re.match(r"proctor|distutils", path.name) and path.suffix != ".pth":
                (folder / path.name).symlink_to(path)
    return folder


def command_without_packages(folder: Path, *more: Path) -> list[str]:
    """Return the start of a command that runs a script with the kernel alone, and with `more` folders on its path."""
    paths = [str(Path(proctor.__file__).parents[1]), str(link_dependencies(folder)), *map(str, more)]
    about = Path(str(distribution("proctor").locate_file("proctor"))).parent
    for path in about.glob("proctor-[0-9]*.dist-info"):
        (folder / path.name).symlink_to(path)
    start = f"import runpy, sys; sys.path[:0] = {paths}; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    return [sys.executable, "-I", "-S", "-c", start]
