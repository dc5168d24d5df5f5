"""Make tar archives of files, and check those that come out of a box, whose names and links an agent chose."""

import hashlib
import io
import posixpath
import tarfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import dropwhile
from pathlib import Path, PurePosixPath

import msgspec

from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")  # where links may lead: programs that every box has
_EXECUTABLE, _PLAIN = 0o755, 0o644
READ_BY_ENGINES = ("Dockerfile", ".dockerignore")
MOST_FILE_BYTES = 512 << 20


class FileSet(msgspec.Struct, frozen=True, kw_only=True):
    """Files of a task: a folder of this machine, or texts by name, or both.

    Attributes:
        folder: its files, without links, which could lead out of it.
    """

    folder: str | None = None
    texts: Mapping[str, str] = {}

    def __bool__(self) -> bool:
        return self.folder is not None or bool(self.texts)

    def contents(self) -> dict[str, tuple[bytes, int]]:
        """Return content and mode by name.

        Raises:
            BadInput: a link or a special file, or files that cannot be read.
        """
        found = {name: (text.encode(), _mode_of(text.encode())) for name, text in self.texts.items()}
        root = Path(self.folder) if self.folder is not None else None
        for path in sorted(root.rglob("*")) if root is not None else ():
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                raise BadInput("{path}: files of a task may not be links or special files.", path=path)
            if path.is_file():
                data = path.read_bytes()
                found[path.relative_to(root or path).as_posix()] = (data, path.stat().st_mode & 0o777 | _mode_of(data) & 0o111)  # fmt: skip
        return found

    def archive(self, folder: str, leave_out: Sequence[str] = ()) -> bytes:
        """Return an archive in which the files are below a folder and belong to root."""
        kept = {name: content for name, content in self.contents().items() if name not in leave_out}
        return archive_of({f"{folder.strip('/')}/{name}": content for name, content in kept.items()}, [folder])

    def digest(self) -> str:
        return digest({name: [data.hex(), mode] for name, (data, mode) in self.contents().items()})


def folder_digest(folder: Path, leave_out: Collection[str] = ()) -> str:
    """Return a fingerprint of a folder from which an image is built: names, modes, contents and links.

    What an engine reads itself counts by its content, where it is a link too: it may lead out of the folder.
    """
    lines: list[list[str | int]] = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.partition("/")[0] in leave_out:
            continue
        if path.is_symlink() and not (name in READ_BY_ENGINES and path.is_file()):
            lines.append([name, "link", str(path.readlink())])
        elif path.is_file():
            with path.open("rb") as content:
                lines.append([name, path.stat().st_mode & 0o777, hashlib.file_digest(content, "sha256").hexdigest()])
        else:
            lines.append([name, "folder", ""])
    return digest(lines)


def _mode_of(data: bytes) -> int:
    return _EXECUTABLE if data.startswith(b"#!") else _PLAIN


def archive_of(contents: Mapping[str, tuple[bytes, int]], folders: Sequence[str] = ()) -> bytes:
    """Return an archive of files by name, with content and mode, and of empty folders."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for folder in folders:
            entry = tarfile.TarInfo(folder.strip("/") or ".")
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for name, (data, mode) in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), mode
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


class ArchiveEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of an archive by its absolute path; `is_repeated` is true if an earlier one, which counts, has the same path."""

    path: str
    info: tarfile.TarInfo
    is_repeated: bool


def read_entries(source: tarfile.TarFile) -> Iterator[ArchiveEntry]:
    """Yield the entries of an archive: everybody reads archives by this, so that nobody is shown another file than is unpacked."""
    seen: set[str] = set()
    for info in source:
        rename_entry(info)
        path = absolute(info.name)
        yield ArchiveEntry(path=path, info=info, is_repeated=path in seen)
        seen.add(path)


def rename_entry(info: tarfile.TarInfo, folder: str = "/") -> None:
    """Name an entry, and what it is a hard link to, plainly and below a folder, and drop what would name or read it otherwise."""
    info.name = absolute(posixpath.join(folder, info.name.lstrip("/"))).lstrip("/") or "."
    if info.islnk():
        info.linkname = absolute(posixpath.join(folder, info.linkname.lstrip("/"))).lstrip("/")
    if info.isreg():
        info.type = tarfile.REGTYPE
    info.pax_headers = {}  # its path would go before the name


def absolute(name: str) -> str:
    """Return the absolute path of a name in an archive; `..` stays, to be refused.

    >>> absolute("app/./x//y"), absolute("."), absolute("app/../x")
    ('/app/x/y', '/', '/app/../x')
    """
    return "/" + "/".join(part for part in name.split("/") if part not in ("", "."))


class CheckedArchive(msgspec.Struct, frozen=True, kw_only=True):
    """An archive that can be unpacked in another box, and what of it was left out, with the reason."""

    archive: bytes
    left_out: Mapping[str, Sentence] = {}


def check_archive(archive: bytes, roots: Sequence[str], unwanted: Mapping[str, Sentence] = {}) -> CheckedArchive:
    """Leave out of an archive what may not go into another box.

    Args:
        roots: the absolute paths that it may have something of.
        unwanted: further entries to leave out, by absolute path, with the reason.

    Raises:
        TarError: it is no archive.
    """
    left_out: dict[str, Sentence] = {}
    leaves: set[str] = set()  # nothing can be below them
    files: set[str] = set()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(archive)) as source, tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as kept:  # fmt: skip
        for entry in read_entries(source):
            path, info = entry.path, entry.info
            reason = unwanted.get(path) or _refuse(info, path, roots, files)
            if entry.is_repeated or not leaves.isdisjoint(map(str, PurePosixPath(path).parents)):
                reason = say("below a link or a file, or named twice")
            if info.issym() or (reason is None and not info.isdir()):
                leaves.add(path)
            if reason is not None:
                left_out[path] = reason
                continue
            if info.isreg():
                files.add(path)
            info.mode &= 0o777
            kept.addfile(info, source.extractfile(info) if info.isreg() else None)
    return CheckedArchive(archive=buffer.getvalue(), left_out=left_out)


def _refuse(entry: tarfile.TarInfo, path: str, roots: Sequence[str], files: Collection[str]) -> Sentence | None:
    """Return why an entry may not be unpacked, if so.

    In the target of a link, `..` may only come first: after a name that is itself a link, it leads elsewhere than it reads.
    """
    if ".." in PurePosixPath(path).parts or not _is_within(path, roots):
        return say("outside of what was declared")
    if entry.isreg() or entry.isdir():
        return None if entry.size <= MOST_FILE_BYTES else say("too large")
    if entry.issym():
        names = list(dropwhile("..".__eq__, PurePosixPath(entry.linkname).parts))
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), entry.linkname))
        is_fine = ".." not in names and _is_within(target, (*roots, *_SYSTEM))
        return None if is_fine else say("a link that leads out of what was declared")
    if entry.islnk():
        return None if absolute(entry.linkname) in files else say("a link to what is not taken along")
    return say("a special file")


def _is_within(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def names_of(archive: bytes) -> list[str]:
    """Return the absolute paths of all entries that are no folders."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as source:
        return [entry.path for entry in read_entries(source) if not entry.info.isdir()]


def read_files(archive: bytes, most_bytes: int) -> dict[str, bytes]:
    """Return the content of the plain files of an archive by absolute path; links and larger files are left out."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as source:
        return {
            entry.path: content.read()
            for entry in read_entries(source)
            if entry.info.isreg() and not entry.is_repeated and entry.info.size <= most_bytes and (content := source.extractfile(entry.info)) is not None
        }  # fmt: skip
