"""Make an image for docker and podman of this machine's own programs, as no registry is asked for one in tests; leave out what this machine lacks."""

import io
import shutil
import subprocess
import tarfile
from functools import cache
from pathlib import Path
from typing import cast

import pytest

from proctor_benchmarks.boxes.engines import Engine
from proctor_benchmarks.boxes.namespace import lacks
from proctor_benchmarks.boxes.opening import answers

IMAGE = "proctor-test-machine"
PROGRAMS = (
    "awk bash basename cat chmod chown cp cut date dd df dirname du echo env expr false find grep head id kill ln ls "
    "mkdir mktemp mv nproc printf ps pwd python3 readlink rm rmdir sed seq setsid sh sleep sort stat tail tar tee test "
    "timeout touch tr true uname uniq unshare wc whoami mknod mount"
)
_PASSWD = "root:x:0:0:root:/root:/bin/bash\nplain:x:1000:1000::/home:/bin/sh\n"
_FOLDERS = ("usr/bin", "usr/lib", "usr/lib64", "etc", "root", "app", "var", "run", "home")


BACKENDS = ("bubblewrap", "docker", "podman")


def skip_without(backend: str) -> None:
    """Skip a test where this machine does not have the backend."""
    if backend == "bubblewrap" and lacks():
        pytest.skip(f"needs {lacks()}")
    if backend != "bubblewrap" and not answers(cast("Engine", backend)):
        pytest.skip("needs a running engine")


@cache
def import_image(engine: str) -> str:
    """Return the name of the image, which is imported once for each process of tests."""
    subprocess.run([engine, "import", "-", IMAGE], input=machine_archive(), check=True, capture_output=True)
    return IMAGE


@cache
def machine_archive() -> bytes:
    """Return a root with some programs, the libraries that they need, and Python."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as archive:
        for name in _FOLDERS:
            archive.addfile(_entry(name, tarfile.DIRTYPE))
        archive.addfile(_entry("tmp", tarfile.DIRTYPE, mode=0o1777))
        for name in ("bin", "sbin", "lib", "lib64"):
            archive.addfile(_entry(name, tarfile.SYMTYPE, target=f"usr/{name}"))
        entry = _entry("etc/passwd", tarfile.REGTYPE, mode=0o644)
        entry.size = len(_PASSWD)
        archive.addfile(entry, io.BytesIO(_PASSWD.encode()))
        for name, path in {_below_usr(path): path for path in sorted(_files())}.items():
            archive.add(path, arcname=name)
        folder = Path("/usr/lib", Path("/usr/bin/python3").resolve().name)
        archive.add(folder, arcname=_below_usr(str(folder)), filter=_without_tests)
    return buffer.getvalue()


def _entry(name: str, kind: bytes, *, mode: int = 0o755, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.linkname = kind, mode, target
    return entry


def _files() -> set[str]:
    paths = [path for name in PROGRAMS.split() if (path := shutil.which(name, path="/usr/bin")) is not None]
    programs = {str(name) for path in paths for name in (path, Path(path).resolve())}
    needed = subprocess.run(["ldd", *programs], check=False, capture_output=True, text=True).stdout.split()
    libraries = {word for word in needed if word.startswith("/") and not word.endswith(":")}
    resolved = {str(Path(path).resolve()) for path in libraries}
    named = {f"{Path(path).resolve().parent}/{Path(path).name}" for path in libraries}
    return {path for path in programs | resolved | named | libraries if Path(path).is_file()}


def _below_usr(path: str) -> str:
    """Return where a file is in the archive, whose /bin and /lib are links."""
    return path.lstrip("/") if path.startswith("/usr") else f"usr{path}"


def _without_tests(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in entry.name or "/test" in entry.name else entry
