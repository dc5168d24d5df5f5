"""Eval sets as code written for VeADK or ADK has them: our objects, ADK's, plain data or files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor_adapters.evalsets import read
from proctor_adapters.evalsets.read import Loaded
from proctor_adapters.evalsets.schema import EvalSet

TEST_SUFFIX = ".test.json"


class UnusableEvalSet(BadInput, ValueError):
    """No eval set, or one that cannot be read; a ValueError as in VeADK."""


def load_eval_set_from_file(eval_set_file_path: str | Path) -> EvalSet:
    """Return the eval set of a file of any shape.

    Raises:
        UnusableEvalSet: it cannot be read; names file, line and JSON path.
    """
    return loaded(None, eval_set_file_path).eval_set


def loaded(eval_set: object, path: str | Path | None) -> Loaded:
    """Return the set given, else that of the file.

    Raises:
        UnusableEvalSet: neither, or it cannot be read.
    """
    if eval_set is None and path is None:
        raise UnusableEvalSet("Give an eval set or the path of a file with one.")
    try:
        if eval_set is None:
            assert path is not None
            loaded_set = read.read(path)
        else:
            loaded_set = read.parse(msgspec.json.encode(plain(eval_set)), Path("eval_set"))
    except BadInput as error:
        raise UnusableEvalSet(error.sentence) from error
    if not loaded_set.eval_set.eval_cases:
        raise UnusableEvalSet("{path} has no eval cases.", path=path or loaded_set.eval_set.eval_set_id)
    return loaded_set


def test_files(path: str | Path | None) -> Sequence[str | Path | None]:
    """Return the files to evaluate: all `*.test.json` in a folder and below, else the file itself.

    Raises:
        UnusableEvalSet: a folder without any.
    """
    folder = Path(path) if path is not None else None
    if folder is None or not folder.is_dir():
        return [path]
    files = sorted(file for file in folder.rglob(f"*{TEST_SUFFIX}") if file.is_file())
    if not files:
        raise UnusableEvalSet("There is no *.test.json in {path}.", path=folder)
    return files


vars(test_files)["__test__"] = False  # pytest would take it for a test


def plain(value: object) -> object:
    """Return a set as plain data, from an object of ours or of ADK's."""
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json", exclude_none=True)
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value
