"""Pack the files of a project for machines that do not have them, without what is nobody else's business.

Only code and texts are packed (by their suffix), nothing hidden, nothing that Git ignores, and no file that holds a key or,
unless it is code, is called like one. What is compressed in a file is not looked at.
"""

import io
import os
import re
import subprocess
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.transport.redact import KEY_NAME, holds_key

MOST_BYTES = 100_000_000
MOST_FILES = 10_000
GIT_SECONDS = 30.0
_TEXTS = (
    "cfg ini toml json jsonl yaml yml csv tsv xml txt md markdown rst prompt j2 jinja jinja2 mustache tmpl html htm"
)
_FILES = "png jpg jpeg gif webp wav mp3 pdf xlsx parquet zip gz"
CODE = frozenset((".py", ".pyi", ".js", ".ts", ".sh", ".sql"))  # a module may be called `auth` or `token`
SUFFIXES = CODE | {f".{name}" for name in f"{_TEXTS} {_FILES}".split()}
LEFT_OUT = frozenset(("node_modules", "__pycache__", "site-packages", "venv", "env", "dist", "build"))
VARIABLES = re.compile(r"LLM_\w+|OLLAMA_HOST|\w+_(?:API_KEY|BASE_URL|API_BASE)")
"""Environment variables that agents and judges find their endpoint by."""
NAMED = re.compile(r"(?:^|\{)env:(\w+)")


def pack(folder: Path, warn: Callable[[Sentence], None]) -> bytes:
    """Return a zip file of the files of a project.

    Raises:
        BadInput: they are too large.
    """
    packed = io.BytesIO()
    size = 0
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number, name in enumerate(_names(folder)):
            path = folder / name
            size += path.stat().st_size
            if size > MOST_BYTES or number >= MOST_FILES:
                raise BadInput(
                    "The folder {folder} holds more than {megabytes} MB or {files} files of code and texts, too much to send it to every machine. Start the run in the folder of the agent alone, or list what is not needed in .gitignore.",
                    folder=folder,
                    megabytes=MOST_BYTES // 1_000_000,
                    files=MOST_FILES,
                )
            try:
                data = path.read_bytes()
                file = zipfile.ZipInfo.from_file(path, str(name), strict_timestamps=False)
                file.filename.encode()
            except OSError as error:
                warn(_not_sent(name, error.strerror or str(error)))
                continue
            except UnicodeEncodeError:
                warn(_not_sent(name, say("its name is not UTF-8")))
                continue
            if _is_called_like_key(name) or holds_key(data.replace(b"\0", b"").decode("utf-8", "replace")):  # or UTF-16
                warn(
                    say(
                        "{name} holds a key, or is called like one, and is not sent to the other machines.",
                        name=name.as_posix(),
                    )
                )
                continue
            archive.writestr(file, data, zipfile.ZIP_DEFLATED, compresslevel=1)
    return packed.getvalue()


def _not_sent(name: PurePath, problem: Sentence | str) -> Sentence:
    shown = name.as_posix().encode("utf-8", "replace").decode()
    return say("{name} cannot be sent to the other machines: {problem}.", name=shown, problem=problem)


def variables(options: object) -> dict[str, str]:
    """Return the variables of this environment that the parts of a run need: those of endpoints, and those its options name."""
    named = set(_named(options))
    return {name: value for name, value in os.environ.items() if name in named or VARIABLES.fullmatch(name)}


def _named(value: object, name: str = "") -> Iterator[str]:
    match value:
        case Mapping():
            for key, item in value.items():
                yield from _named(item, str(key))
        case list() | tuple():
            for item in value:
                yield from _named(item, name)
        case str():
            yield from NAMED.findall(value)
            if name.endswith("_env"):
                yield value


def _names(folder: Path) -> Iterator[PurePath]:
    """Yield the files to pack, relative to the folder, in order; a folder that Git ignores altogether is read as one without it."""
    names = {*(_listed_by_git(folder) or _walked(folder))}  # of a merge with conflicts, Git lists some twice
    for name in sorted(names):
        if name.suffix.lower() in SUFFIXES and not any(map(_is_left_out, name.parts)):
            path = folder / name
            if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                yield name


def _is_left_out(part: str) -> bool:
    return part.startswith(".") or part in LEFT_OUT


def _is_called_like_key(name: PurePath) -> bool:
    return name.suffix.lower() not in CODE and any(KEY_NAME.search(part.partition(".")[0]) for part in name.parts)


def _walked(folder: Path) -> Iterator[PurePath]:
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _is_left_out(name)]
        for name in files:
            yield Path(root, name).relative_to(folder)


def _listed_by_git(folder: Path) -> list[PurePath]:
    """Return the files that Git does not ignore; none outside of a repository."""
    command = ["git", "-C", str(folder), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=GIT_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [PurePath(os.fsdecode(name)) for name in done.stdout.split(b"\0") if name] if done.returncode == 0 else []
