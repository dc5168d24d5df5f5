"""Build the wheels and sdists of all packages from what git tracks into a folder (dist by default), the same bytes each time.

A build sees a copy of the package's own files and nothing else, so that no file of the working folder can slip in; what came out is
checked against them.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from email.parser import HeaderParser
from pathlib import Path

PAGES = {"man/proctor.1": "en", "man/zh_CN/proctor.1": "zh"}
ROOT = Path(__file__).resolve().parents[1]
KERNEL = "proctor"
PACKAGED = ("src/", "pyproject.toml", "README.md", "LICENSE")
MOST_BYTES = {KERNEL: 2_000_000, "": 5_000_000}  # of the kernel's wheel, and of all wheels together
BUILD = "import sys; from hatchling import build as b; to = sys.argv[1]; b.build_wheel(to); b.build_sdist(to)"
SHARED = '\n[tool.hatch.build.targets.wheel.shared-data]\n"man/proctor.1" = "share/man/man1/proctor.1"\n"man/zh_CN/proctor.1" = "share/man/zh_CN/man1/proctor.1"\n'


def main(folder: Path) -> None:
    """Build both files of each package, check them, and print their names."""
    folder.mkdir(parents=True, exist_ok=True)
    wheels = {path.name: _build(path, folder) for path in sorted((ROOT / "packages").iterdir()) if path.is_dir()}
    sizes = {name: wheel.stat().st_size for name, wheel in wheels.items()}
    for name, size in (*sizes.items(), ("", sum(sizes.values()))):
        if size > MOST_BYTES.get(name, size):
            sys.exit(f"{name or 'All wheels'}: {size:,} bytes, at most {MOST_BYTES[name]:,}.")


def _build(package: Path, folder: Path) -> Path:
    """Build the wheel and the sdist of one package into the folder, and return where the wheel is."""
    tracked, moment = _tracked(package)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, "copy")
        _copy(package, tracked, copy)
        manual = PAGES if package.name == KERNEL else {}
        _write_manual(manual, copy, moment)
        made = Path(scratch, "made")
        made.mkdir()
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(moment)}
        command = [sys.executable, "-W", "ignore", "-c", BUILD, str(made)]
        built = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
        if built.returncode:
            sys.exit(built.stderr or built.stdout)
        (wheel,), (sdist,) = made.glob("*.whl"), made.glob("*.tar.gz")
        check_wheel(wheel, tracked, with_manual=bool(manual))
        check_sdist(sdist, [*tracked, *manual])
        for file in (wheel, sdist):
            print(shutil.move(file, folder / file.name))
    return folder / wheel.name


def _tracked(package: Path) -> tuple[list[str], int]:
    """Return the files of a package, and when they were last committed; where git does not know, all files and 1980."""
    names = [f"{package.relative_to(ROOT).as_posix()}/{name}" for name in PACKAGED]
    listed, moment = _git("ls-files", "-z", *names), _git("log", "-1", "--format=%ct")
    if listed and moment:
        paths = [ROOT / name for name in listed.split("\0") if name]
        return [path.relative_to(package).as_posix() for path in paths if path.is_file()], int(moment)
    print("git does not know this folder: all files of the package are taken.", file=sys.stderr)
    paths = [path for name in PACKAGED for path in (package / name, *(package / name).rglob("*")) if path.is_file()]
    found = sorted(path.relative_to(package).as_posix() for path in paths)
    return [name for name in found if "__pycache__" not in name], 315_619_200


def check_wheel(wheel: Path, tracked: list[str], *, with_manual: bool) -> None:
    """Exit with what is missing in the wheel, or what should not be there."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        [about] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = HeaderParser().parsestr(archive.read(about).decode())
    data = about.replace(".dist-info/METADATA", ".data/data/share/man/")
    manual = {f"{data}man1/proctor.1", f"{data}zh_CN/man1/proctor.1"} if with_manual else set()
    _compare("wheel", names, manual | {name.removeprefix("src/") for name in tracked if name.startswith("src/")})
    for field in (
        "Name",
        "Version",
        "Summary",
        "License-Expression",
        "License-File",
        "Requires-Python",
    ):
        if not metadata[field]:
            sys.exit(f"The metadata of the wheel has no {field}.")
    if not metadata.get_payload():
        sys.exit("The metadata of the wheel has no description.")


def check_sdist(sdist: Path, tracked: list[str]) -> None:
    """Exit with what is missing in the sdist, or what should not be there."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    _compare("sdist", names - {"PKG-INFO"}, {*tracked})


def _compare(what: str, found: set[str], wanted: set[str]) -> None:
    if found != wanted:
        sys.exit(f"The {what} lacks {sorted(wanted - found)[:20]}, and should not have {sorted(found - wanted)[:20]}.")


def _copy(package: Path, tracked: list[str], folder: Path) -> None:
    for name in tracked:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(package / name, target)
        target.chmod(0o644)


def _write_manual(manual: Mapping[str, str], copy: Path, moment: int) -> None:
    """Write the manual pages into the copy, from the help of the commands."""
    program = str(ROOT / ".ci" / "man.py")
    sources = os.pathsep.join(map(str, (copy / "src", *(ROOT / "packages").glob("*/src"))))
    for name, lang in manual.items():
        environment = os.environ | {"PYTHONPATH": sources, "COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, program, lang, str(moment)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(done.stdout, encoding="utf-8")
    if manual:
        with (copy / "pyproject.toml").open("a", encoding="utf-8") as settings:
            settings.write(SHARED)


def _git(*arguments: str) -> str:
    """Return what git prints, '' where it is missing or knows no repository here."""
    if (git := shutil.which("git")) is None or not (ROOT / ".git").exists():
        return ""
    command = [git, "-c", f"safe.directory={ROOT}", *arguments]  # CI may own the folder as another user
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist"))
