"""Fetch data sets of the hub into the cache: at one commit, whole, checked, and never twice.

A data set is fetched at the commit its revision points to now. Each file is streamed to disk and compared with the length
and the digest that the hub names for it; the folder appears when all are there, with a list of their digests. What
is cached is compared with that list each time, so that a damaged file is found, and fetched again.
"""

import hashlib
import http.client
import os
import re
import shutil
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.folders import cache_folder
from proctor.transport.faults import shown

HUB = "https://huggingface.co"  # or HF_ENDPOINT, as the hub's own tools read it
MAIN = "main"
LIST = ".proctor"  # the file in the folder that says what it holds
SECONDS = 60
FILE_BYTES = 500_000_000
LISTING_BYTES = 20_000_000
PAGES = 1_000
_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_REVISION = re.compile(r"[\w./-]{1,200}")
_NEXT = re.compile(r'<([^<>]{1,4000})>;\s{0,9}rel="next"')
_CHUNK = 1 << 20

T = TypeVar("T")
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
        """What a run keeps of it."""
        return {"data_set": self.name, "revision": self.revision, "digest": self.digest}


class _Commit(msgspec.Struct):
    sha: str


class _Lfs(msgspec.Struct):
    oid: str


class _Entry(msgspec.Struct):
    """A line of the hub's list of files; `oid` is git's digest, that of `lfs` is the sha256 of a large file."""

    type: str
    path: str
    size: int | None = None
    oid: str = ""
    lfs: _Lfs | None = None


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
    """A data set in the cache, fetched now if it is not there or damaged.

    Args:
        name: OWNER/NAME.
        revision: a commit, tag or branch; a branch stays at the commit that was fetched first.
        folder: where it is kept; its own place in the cache when None.
        under: only the files below this path.
        suffixes: the kinds of files that are wanted; all of them when empty.
        choose: which of all files are wanted, by their paths; it may refuse with `BadInput`.
        advice: what to do without a network.
        gated: what to do without a token, for a set that nobody gets without one.

    Raises:
        BadInput: no such set, no network, no access, or what came is not what the hub lists.
    """
    if not _NAME.fullmatch(name) or ".." in name:
        raise BadInput("A set of the hub is called OWNER/NAME, not '{name}'.", name=name)
    if not _REVISION.fullmatch(revision) or ".." in revision:
        raise BadInput(
            "'{revision}' is no revision of a data set: give a commit, a tag or a branch.", revision=revision
        )
    folder = folder or cache_folder() / "hub" / name.replace("/", "--")
    if revision != MAIN:
        folder = folder.with_name(f"{folder.name}@{revision.replace('/', '--')}")
    try:
        if (found := _cached(folder)) is not None:
            return found
        hub = _Hub(name, advice or say("Without network give a file instead."))
        if gated is not None and not hub.token:
            raise BadInput(gated)
        folder.parent.mkdir(parents=True, exist_ok=True)
        from filelock import FileLock

        with FileLock(folder.with_name(folder.name + ".lock")):
            return _cached(folder) or _fetched(
                hub, folder, revision, under, suffixes, choose
            )  # else another was quicker
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise BadInput(
            "The cache folder {folder} cannot be written: {error}. Name another one in PROCTOR_CACHE.",
            folder=folder.parent,
            error=shown(str(error.strerror or error if isinstance(error, OSError) else error)),
        ) from error


def _cached(folder: Path) -> DataSet | None:
    """What is in the folder, if it is whole; None for one that an earlier version left without a list."""
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
        entries = list(hub.files(commit, under))
        wanted = frozenset(choose([entry.path for entry in entries])) if choose is not None else None
        for entry in entries:
            if suffixes and not entry.path.lower().endswith(tuple(suffixes)):
                continue
            if wanted is not None and entry.path not in wanted:
                continue
            target = (part / entry.path).resolve()
            if not target.is_relative_to(part.resolve()):
                raise BadInput("The hub lists a file outside the data folder: '{name}'.", name=shown(entry.path))
            target.parent.mkdir(parents=True, exist_ok=True)
            sha256[entry.path] = hub.save(entry, commit, target)
        listed = _Listed(data_set=hub.name, revision=commit, sha256=sha256)
        (part / LIST).write_bytes(msgspec.json.format(msgspec.json.encode(listed)))
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return DataSet(name=hub.name, folder=folder, revision=commit, digest=_digest_of_all(sha256))


class _Hub:
    """One data set of the hub."""

    def __init__(self, name: str, advice: Sentence) -> None:
        self.name = name
        self._advice = advice
        self.token = os.environ.get("HF_TOKEN")
        self._address = os.environ.get("HF_ENDPOINT", HUB).rstrip("/")

    def commit(self, revision: str) -> str:
        """The commit that a revision points to."""
        url = f"{self._address}/api/datasets/{self.name}/revision/{urllib.parse.quote(revision, safe='')}"
        data, _ = self._small(url)
        return self._decoded(data, _Commit).sha

    def files(self, commit: str, under: str) -> Iterator[_Entry]:
        """All files, page by page."""
        url = f"{self._address}/api/datasets/{self.name}/tree/{commit}/{urllib.parse.quote(under)}?recursive=true"
        for _ in range(PAGES):
            data, link = self._small(url)
            yield from (entry for entry in self._decoded(data, list[_Entry]) if entry.type == "file")
            following = _NEXT.search(link)
            if following is None or not following[1].startswith(f"{self._address}/"):
                return
            url = following[1]

    def save(self, entry: _Entry, commit: str, target: Path) -> str:
        """Stream a file to disk and compare it with what the hub lists; returns its sha256."""
        path = urllib.parse.quote(entry.path)
        sha256, git, size = hashlib.sha256(), hashlib.sha1(f"blob {entry.size}\0".encode(), usedforsecurity=False), 0
        with target.open("wb") as file:
            for piece in self._pieces(f"{self._address}/datasets/{self.name}/resolve/{commit}/{path}", FILE_BYTES):
                sha256.update(piece)
                git.update(piece)
                size += len(piece)
                file.write(piece)
        if entry.lfs is not None:
            is_right = entry.lfs.oid == sha256.hexdigest()
        else:
            is_right = entry.size in (None, size) and entry.oid in ("", git.hexdigest())
        if not is_right:
            raise BadInput(
                "{name} of {data_set} is not what the hub lists, so nothing of it was kept. Try again later.",
                name=shown(entry.path),
                data_set=self.name,
            )
        return sha256.hexdigest()

    def _small(self, url: str) -> tuple[bytes, str]:
        """A reply that fits into memory, and its `Link` header."""
        headers: dict[str, str] = {}
        return b"".join(self._pieces(url, LISTING_BYTES, headers)), headers.get("link", "")

    def _pieces(self, url: str, limit: int, headers: dict[str, str] | None = None) -> Iterator[bytes]:
        """What lies at an address, in pieces; ends only when all of it came."""
        size = 0
        try:
            request = urllib.request.Request(url)  # noqa: S310 - https or the user's own endpoint
            if self.token:
                request.add_unredirected_header("Authorization", f"Bearer {self.token}")
            with urllib.request.build_opener(_KeepTokenHome).open(request, timeout=SECONDS) as reply:
                if headers is not None:
                    headers.update((name.lower(), value) for name, value in reply.headers.items())
                length = reply.headers.get("Content-Length")
                while piece := reply.read(_CHUNK):
                    size += len(piece)
                    if size > limit:
                        raise BadInput("The hub sent a file above {limit} bytes.", limit=limit)
                    yield piece
                if length is not None and size != int(length):
                    raise http.client.IncompleteRead(b"", int(length) - size)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in (401, 403, 404):
                raise NotThere(
                    "The hub refuses access to {data_set} ({status}). Check the name, HF_TOKEN, and, where access has to be granted, your request.",
                    data_set=self.name,
                    status=error.code,
                ) from None
            raise BadInput("The hub answered {status}. Try again later.", status=error.code) from None
        except http.client.IncompleteRead:
            raise BadInput(
                "The connection to the hub broke off before all of {data_set} was there, so nothing of it was kept. Try again.",
                data_set=self.name,
            ) from None
        except (OSError, ValueError, http.client.HTTPException) as error:  # URLError and TimeoutError are OSErrors
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            raise BadInput(
                "The hub cannot be reached: {error}. {advice}",
                error=shown(str(reason) or type(reason).__name__),
                advice=self._advice,
            ) from None

    def _decoded(self, data: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(data, type=kind)
        except (ValueError, RecursionError):
            raise BadInput("The hub's list of files of {data_set} cannot be read.", data_set=self.name) from None


class _KeepTokenHome(urllib.request.HTTPRedirectHandler):
    """Files lie on other hosts, the token stays with the hub: it goes along only to the same scheme, host and port."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and _origin(newurl) == _origin(req.full_url):
            token = req.get_header("Authorization")
            if token:
                request.add_unredirected_header("Authorization", token)
        return request


def _origin(url: str) -> tuple[str, str]:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.netloc
