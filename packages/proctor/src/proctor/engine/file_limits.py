"""Bound the files of tool results: what is too large is left out, and the text of the result says so.

A file of a result is bytes. A path or an address in one is left out: it is the tool's word, and is never read or fetched.
"""

from msgspec.structs import replace

from proctor.chat.agent_replies import clean
from proctor.chat.message_text import left_out
from proctor.core.media_type import media_type_of
from proctor.core.sample import File, ToolResult

FILE_BYTES = 10_000_000
RESULT_BYTES = 20_000_000  # of all files of a result
TRIAL_BYTES = 100_000_000  # of all results of an attempt
MOST_FILES = 20  # of a result
NAME_CHARACTERS = 100


class FileLimits:
    """The limits of one attempt."""

    def __init__(self) -> None:
        self._room = TRIAL_BYTES

    def apply(self, result: ToolResult) -> ToolResult:
        """Return a result with the files that are within the limits, and a line in its text for each that is not.

        Raises:
            TypeError: its files are no files.
        """
        if not result.files:
            return result
        if not isinstance(result.files, list | tuple) or not all(isinstance(file, File) for file in result.files):
            raise TypeError("the files of the result are no tuple of File")
        kept: list[File] = []
        lines = [result.content]
        for file in result.files[:MOST_FILES]:
            typed, why = self._checked(file, sum(len(kept_file.data or b"") for kept_file in kept))
            if why:
                lines.append(left_out(typed, why))
            else:
                kept.append(typed)
        if (more := len(result.files) - MOST_FILES) > 0:
            lines.append(f"[{more} files left out: a result may have {MOST_FILES} files.]")
        self._room -= sum(len(file.data or b"") for file in kept)
        return replace(result, content="\n".join(filter(None, lines)), files=tuple(kept))

    def _checked(self, file: File, used: int) -> tuple[File, str]:
        """Return a file as it is kept, and why it cannot be, if so; `used` are the bytes of those before it."""
        name = clean(str(file.name)).replace("\\", "/").rpartition("/")[2][:NAME_CHARACTERS]
        if not isinstance(file.data, bytes):
            return File(name=name), "a file of a result is bytes, and no path or address"
        typed = File(name=name, media_type=media_type_of(file.data, str(file.media_type)), data=file.data)
        for size, most, what in (
            (len(file.data), FILE_BYTES, "a file"),
            (used + len(file.data), RESULT_BYTES, "the files of a result"),
            (used + len(file.data), self._room, f"of the {TRIAL_BYTES:,} bytes for an attempt, its files"),
        ):
            if size > most:
                return typed, f"{what} may have {most:,} bytes"
        return typed, ""
