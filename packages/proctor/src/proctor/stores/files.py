"""Keep the bytes of a trial's files apart from its record: once for each digest in a run.

The record of a trial with bytes of files is a list: the digest of each file in order, null for one without bytes, and the trial
without these bytes. Any other record is the trial itself, as it always was.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from proctor.core.digest import digest_bytes
from proctor.core.sample import File, Message, Part, ToolResult
from proctor.core.trajectory import Step, Trajectory
from proctor.core.trial import Trial
from proctor.stores.rows import decode_by
from proctor.transport.redact import HIDDEN

Change = Callable[[File], File]
RecordWithFiles = tuple[tuple[str | None, ...], Trial]
_decoder: msgspec.json.Decoder[Trial | RecordWithFiles] = msgspec.json.Decoder(Trial | RecordWithFiles)


def files_in(message: Message) -> tuple[File, ...]:
    """Return the files of a message, those of its results of tools too."""
    return tuple(part for part in message.parts_with_files if isinstance(part, File))


def without_bytes(trial: Trial, keys: Sequence[bytes]) -> tuple[Trial | RecordWithFiles, Mapping[bytes, bytes]]:
    """Return the record of a trial, and the bytes of its files by digest, with a mark in place of each of these keys."""
    has_files = False
    for step in trial.trajectory.steps:  # without a function of its own, as it is asked of every trial that is stored
        for part in step.message.parts:
            if type(part) is File or (type(part) is ToolResult and part.files):
                has_files = True
    if not has_files:
        return trial, {}
    bytes_by_digest: dict[bytes, bytes] = {}
    digests: list[str | None] = []

    def take(file: File) -> File:
        if file.data is None:
            digests.append(None)
            return file
        data = file.data
        for key in keys:
            data = data.replace(key, HIDDEN.encode())
        digests.append(digest_bytes(data))
        bytes_by_digest[bytes.fromhex(digests[-1] or "")] = data
        return replace(file, data=None)

    bare = replace(trial, trajectory=_with_files(trial.trajectory, take))
    return ((tuple(digests), bare) if bytes_by_digest else trial), bytes_by_digest


def read_trial(data: bytes | None, find: Callable[[bytes], bytes | None]) -> Trial:
    """Decode the record of a trial; `find` returns the bytes of a digest.

    Raises:
        DamagedRecord: it cannot be read, or the bytes of a file are missing or others.
    """
    return decode_by(data, lambda record: _with_bytes(_decoder.decode(record), find))


def _with_bytes(record: Trial | RecordWithFiles, find: Callable[[bytes], bytes | None]) -> Trial:
    if isinstance(record, Trial):
        return record
    digests, bare = record
    rest = iter(digests)

    def give_back(file: File) -> File:
        digest = next(rest, None)
        if digest is None:
            return file
        data = find(bytes.fromhex(digest))
        if data is None or digest_bytes(data) != digest:
            raise ValueError(f"the file {file.name} {'is missing' if data is None else 'has other bytes'}")
        return replace(file, data=data)

    return replace(bare, trajectory=_with_files(bare.trajectory, give_back))


def _with_files(trajectory: Trajectory, change: Change) -> Trajectory:
    steps = tuple(_step(step, change) if files_in(step.message) else step for step in trajectory.steps)
    return replace(trajectory, steps=steps)


def _step(step: Step, change: Change) -> Step:
    return replace(step, message=replace(step.message, parts=tuple(_part(part, change) for part in step.message.parts)))


def _part(part: Part, change: Change) -> Part:
    match part:
        case File():
            return change(part)
        case ToolResult(files=(_, *_)):
            return replace(part, files=tuple(map(change, part.files)))
    return part
