"""Fetch data sets of the hub into the cache: at one commit, whole, checked, and never twice.

A data set is fetched at the commit its revision points to now. Each file is streamed to disk and compared with the length
and the digest that the hub names for it; the folder appears when all are there, with a list of their digests. What
is cached is compared with that list each time, so that a damaged file is found, and fetched again.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from proctor.core.errors import BadInput, needs
from proctor.core.sentence import Sentence, say
from proctor.runtime.folders import cache_folder
from proctor.runtime.telemetry import switch_off
from proctor.transport.faults import shown

if TYPE_CHECKING:
    from huggingface_hub.hf_api import HfApi, RepoFile

MAIN = "main"
LIST = ".proctor"  # the file in the folder that says what it holds
FILE_BYTES = 500_000_000
MOST_ENTRIES = 1_000_000
_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_REVISION = re.compile(r"[\w./-]{1,200}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_CHUNK = 1 << 20

Choose = Callable[[Sequence[str]], Sequence[str]]


class NotThere(BadInput):
    """The hub has no such data set or revision, or shows it to others only."""


class DataSet(msgspec.Struct, frozen=True, kw_only=True):
    """A data set in a folder.

    Attributes:
        revision: the commit it was fetched at.
        digest: of the names and digests of all its files.
    """

    name: str
    folder: Path
    revision: str
    digest: str

    @property
    def provenance(self) -> dict[str, str]:
        """What a run records of the download."""
        return {"data_set": self.name, "revision": self.revision, "digest": self.digest}


class _Listed(msgspec.Struct, frozen=True, kw_only=True):
    """What the list in the folder holds."""

    data_set: str
    revision: str
    sha256: dict[str, str]


def fetch(
    name: str,
    *,
    revision: str = MAIN,
    folder: Path | None = None,
    under: str = "",
    suffixes: Sequence[str] = (),
    choose: Choose | None = None,
    advice: Sentence | None = None,
    gated: Sentence | None = None,
) -> DataSet:
    """Return a data set in the cache, fetched now if it is not there or damaged.

    Args:
        name: OWNER/NAME.
        revision: a commit, tag or branch; a branch stays at the commit that was fetched first.
        folder: where it is kept; its own folder in the cache when None.
        under: only the files below this path.
        suffixes: the kinds of files that are wanted; all of them when empty.
        choose: which of all files are wanted, by their paths; it may refuse with `BadInput`.
        advice: what to do without a network.
        gated: what to do without a token, for a set that nobody gets without one.

    Raises:
        BadInput: no such set, no network, no access, or what came is not what the hub lists.
    """
    _check_name(name, revision)
    folder = folder or cache_folder() / "hub" / name.replace("/", "--")
    if revision != MAIN:
        folder = folder.with_name(f"{folder.name}@{revision.replace('/', '--')}")
    try:
        if (data_set := _cached(folder)) is not None:
            return data_set
        hub = _Hub(name, advice or say("Without network give a file instead."))
        if gated is not None and not hub.token:
            raise BadInput(gated)
        folder.parent.mkdir(parents=True, exist_ok=True)
        from filelock import FileLock

        with FileLock(folder.with_name(folder.name + ".lock")):
            # else another was quicker
            return _cached(folder) or _fetched(hub, folder, revision, under, suffixes, choose)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise BadInput(
            "The cache folder {folder} cannot be written: {error}. Name another one in PROCTOR_CACHE.",
            folder=folder.parent,
            error=shown(str(error.strerror or error if isinstance(error, OSError) else error)),
        ) from error


def _check_name(name: str, revision: str) -> None:
    if not _NAME.fullmatch(name) or ".." in name:
        raise BadInput("A set of the hub is called OWNER/NAME, not '{name}'.", name=name)
    if not _REVISION.fullmatch(revision) or ".." in revision:
        raise BadInput(
            "'{revision}' is no revision of a data set: give a commit, a tag or a branch.", revision=revision
        )


def _cached(folder: Path) -> DataSet | None:
    """Return the data set in the folder, if it is whole; None for one that an earlier version left without a list."""
    try:
        listed = msgspec.json.decode((folder / LIST).read_bytes(), type=_Listed)
        for name, sha256 in listed.sha256.items():
            with (folder / name).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                    return None
    except (OSError, ValueError):
        return None
    return DataSet(name=listed.data_set, folder=folder, revision=listed.revision, digest=_digest_of_all(listed.sha256))


def _digest_of_all(sha256: Mapping[str, str]) -> str:
    return hashlib.sha256("".join(f"{sha256[name]}  {name}\n" for name in sorted(sha256)).encode()).hexdigest()


def _fetched(
    hub: "_Hub", folder: Path, revision: str, under: str, suffixes: Sequence[str], choose: Choose | None
) -> DataSet:
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)  # left by a process that was killed
    try:
        part.mkdir()
        commit = hub.commit(revision)
        sha256 = {}
        entries = hub.files(commit, under)
        wanted = frozenset(choose([entry.path for entry in entries])) if choose is not None else None
        for entry in entries:
            if suffixes and not entry.path.lower().endswith(tuple(suffixes)):
                continue
            if wanted is not None and entry.path not in wanted:
                continue
            if not (part / entry.path).resolve().is_relative_to(part.resolve()):
                raise BadInput("The hub lists a file outside the data folder: '{name}'.", name=shown(entry.path))
            sha256[entry.path] = hub.save(entry, commit, part)
        shutil.rmtree(part / ".cache" / "huggingface", ignore_errors=True)  # the library's notes
        with suppress(OSError):
            (part / ".cache").rmdir()
        listed = _Listed(data_set=hub.name, revision=commit, sha256=sha256)
        (part / LIST).write_bytes(msgspec.json.format(msgspec.json.encode(listed)))
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return DataSet(name=hub.name, folder=folder, revision=commit, digest=_digest_of_all(sha256))


class _Hub:
    """One data set of the hub, asked for with the hub's own library."""

    def __init__(self, name: str, advice: Sentence) -> None:
        self.name = name
        self.token = os.environ.get("HF_TOKEN")
        self._advice = advice

    @cached_property
    def _api(self) -> "HfApi":
        switch_off()
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # they would be drawn over ours
        with needs("hub", f"hub:{self.name}"):
            from huggingface_hub import HfApi
        return HfApi(endpoint=os.environ.get("HF_ENDPOINT"), token=self.token or False)  # False: no token out of a file

    def commit(self, revision: str) -> str:
        api = self._api
        with self._explained():
            sha = api.dataset_info(self.name, revision=revision, expand=["sha"]).sha
            if not isinstance(sha, str) or _COMMIT.fullmatch(sha) is None:
                raise ValueError("no commit")
            return sha

    def files(self, commit: str, under: str) -> "list[RepoFile]":
        """Return what the hub lists of the files of a commit."""
        from huggingface_hub.hf_api import RepoFile  # its name in 1.0, too

        with self._explained():
            tree = self._api.list_repo_tree(
                self.name, under or None, recursive=True, revision=commit, repo_type="dataset"
            )
            return [entry for entry in islice(tree, MOST_ENTRIES) if isinstance(entry, RepoFile)]

    def save(self, entry: "RepoFile", commit: str, folder: Path) -> str:
        """Fetch a file into the folder and compare it with what the hub lists; return its sha256."""
        if entry.size > FILE_BYTES:
            raise BadInput("The hub sent a file above {limit} bytes.", limit=FILE_BYTES)
        with self._explained():
            self._api.hf_hub_download(self.name, entry.path, repo_type="dataset", revision=commit, local_dir=folder)
        sha256, git = hashlib.sha256(), hashlib.sha1(f"blob {entry.size}\0".encode(), usedforsecurity=False)
        with (folder / entry.path).open("rb") as file:
            while piece := file.read(_CHUNK):
                sha256.update(piece)
                git.update(piece)
        if sha256.hexdigest() != entry.lfs.sha256 if entry.lfs else entry.blob_id not in ("", git.hexdigest()):
            raise BadInput(
                "{name} of {data_set} is not what the hub lists, so nothing of it was kept. Try again later.",
                name=shown(entry.path),
                data_set=self.name,
            )
        return sha256.hexdigest()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the hub, or on the way to it, into ours."""
        from huggingface_hub.errors import HfHubHTTPError

        try:
            yield
        except HfHubHTTPError as error:
            status = error.response.status_code
            if status in (401, 403, 404):
                raise NotThere(
                    "The hub refuses access to {data_set} ({status}). Check the name, HF_TOKEN, and, where access has to be granted, your request.",
                    data_set=self.name,
                    status=status,
                ) from None
            raise BadInput("The hub answered {status}. Try again later.", status=status) from None
        except Exception as error:  # its own kinds, those of its HTTP client, and what a strange reply sets off in it
            if isinstance(error, OSError) and error.errno is not None:  # of the disk
                raise
            reason = error.__cause__ if isinstance(error, FileNotFoundError) and error.__cause__ else error
            raise BadInput(
                "{data_set} cannot be fetched from the hub: {error}. {advice}",
                data_set=self.name,
                error=shown(str(reason).strip().partition("\n")[0].rstrip(".") or type(reason).__name__),
                advice=self._advice,
            ) from None
