"""A submission to the scoring service: unpack its zip with care, score it in a process of its own, pack the results.

Nothing of a submission names a file: only the members `prediction.json` and `args.json` are read, and written under
these names into a new folder that is gone afterwards.
"""

import asyncio
import base64
import binascii
import io
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.runtime.program import reap

MOST_ZIP_BYTES = 25_000_000
MOST_MEMBER_BYTES = {"prediction.json": 100_000_000, "args.json": 1_000_000}
MOST_MEMBERS = 10_000
MOST_SAID = 20_000
_KEPT_BACK = {"score.json", "detail.json"}  # they tell the answers, question by question
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_END = b"PK\x05\x06"


class ScoredSubmission(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a submission: a zip in base64, and what the scorer printed."""

    zip_file: str
    said: str


async def scored(zip_file: str, labels: Path, seconds: float, command: Sequence[str]) -> ScoredSubmission:
    """Return the result files of a submission against a label file.

    Args:
        command: scores, with the flags of the original's `metrics.py`.

    Raises:
        BadInput: no zip, no predictions in it, too much of it, nothing that can be scored, or not within `seconds`.
    """
    with tempfile.TemporaryDirectory(prefix="multi-") as work:
        folder = Path(work) / "submission"
        folder.mkdir()
        await asyncio.to_thread(_unpack, zip_file, folder)
        said = await _score(folder, labels, seconds, command)
        return ScoredSubmission(zip_file=await asyncio.to_thread(_pack, folder), said=said)


def members(data: bytes) -> dict[str, bytes]:
    """Return the members that count of a zip, by name.

    Raises:
        BadInput: it cannot be read, holds no predictions, or a member is above its limit.
    """
    if len(data) > MOST_ZIP_BYTES:
        raise BadInput("The zip is larger than {limit} bytes.", limit=MOST_ZIP_BYTES)
    end = data.rfind(_END)
    if end >= 0 and int.from_bytes(data[end + 10 : end + 12], "little") > MOST_MEMBERS:
        raise BadInput("unzip error")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            return {name: _member(archive, name, most) for name, most in MOST_MEMBER_BYTES.items() if name in names}
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError, ValueError):
        raise BadInput("unzip error") from None


def _unpack(zip_file: str, folder: Path) -> None:
    try:
        data = base64.b64decode(zip_file)
    except (binascii.Error, ValueError):
        raise BadInput("unzip error") from None
    found = members(data)
    if "prediction.json" not in found:
        raise BadInput("prediction.json not exists")
    for name, content in found.items():
        (folder / name).write_bytes(content)


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    if archive.getinfo(name).compress_type not in _METHODS:  # others unpack a few bytes to gigabytes
        raise BadInput("unzip error")
    with archive.open(name) as member:
        content = member.read(most + 1)
    if len(content) > most:
        raise BadInput("{name} is larger than {limit} bytes.", name=name, limit=most)
    return content


async def _score(folder: Path, labels: Path, seconds: float, command: Sequence[str]) -> str:
    """Return what the command says; in a process, because only a process can be stopped."""
    command = [*command, "--detail", "--label_file", str(labels), "--prediction_file", str(folder / "prediction.json")]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    try:
        async with asyncio.timeout(seconds):
            out, err = await process.communicate()
    except TimeoutError:
        raise BadInput("Scoring took longer than {seconds} seconds.", seconds=f"{seconds:g}") from None
    finally:
        if process.returncode is None:
            process.kill()
            await reap(process)
    if process.returncode == 2:
        said = err.decode("utf-8", "replace")
        for path in (folder, labels.parent):  # where things are on this machine is nobody's business
            said = said.replace(f"{path}/", "")
        raise BadInput("{said}", said=said.strip()[:MOST_SAID])
    if process.returncode:
        raise BadInput("The predictions cannot be scored.")
    return out.decode("utf-8", "replace")[:MOST_SAID]


def _pack(folder: Path) -> str:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            if path.name not in _KEPT_BACK:
                archive.write(path, path.name)
    return base64.b64encode(packed.getvalue()).decode("ascii")
