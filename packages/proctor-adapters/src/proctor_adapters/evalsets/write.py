"""Write an eval-set file: the whole file or nothing, and of a file in the current shape only what changed.

Unknown keys, the order and the spelling of keys, the form of numbers and the layout stay. A copy of a file in an older
shape is kept, as it is written as a whole.
"""

import codecs
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.validation import in_words
from proctor.runtime.files import locked, write_whole
from proctor_adapters.evalsets.json_edit import rewrite
from proctor_adapters.evalsets.noun import as_json, camel, respell
from proctor_adapters.evalsets.read import Loaded, read
from proctor_adapters.evalsets.schema import EvalCase, EvalSet


class ChangedMeanwhile(BadInput):
    """Someone else changed the file since it was read, and nothing was written."""


def as_text(noun: EvalSet | EvalCase) -> str:
    """Return a set or a case as its file has it: indented JSON in snake_case, without members that say nothing."""
    return _dump(as_json(noun))


def create(path: Path, eval_set: EvalSet) -> Path:
    """Write a new file.

    Raises:
        BadInput: there is one already, or it cannot be written.
    """
    with locked(path):
        if path.exists():
            raise BadInput("{path} is there already; nothing was written.", path=path)
        write_whole(path, as_text(eval_set).encode(), durable=True)
    return path


def change(path: Path, edit: Callable[[EvalSet], EvalSet]) -> Path | None:
    """Read a file, change the set, and write it; the copy of the old file, if its shape changed.

    Raises:
        BadInput: what `read` and `edit` raise; someone else changed the file meanwhile, and nothing was written.
    """
    loaded = read(path)
    return save(path, edit(loaded.eval_set), loaded)


def save(path: Path, eval_set: EvalSet, loaded: Loaded, *, reshape: bool = False) -> Path | None:
    """Write a set over the file it was read from; the copy of the old file, if its shape changes.

    Args:
        reshape: bring keys in camelCase to snake_case, too.

    Raises:
        ChangedMeanwhile: someone else changed the file since it was read.
        BadInput: it cannot be written.
    """
    path = path.expanduser().resolve()  # a link stays, and the file it names is replaced
    with locked(path):
        return _save(path, eval_set, loaded, reshape=reshape)


def append(path: Path, edit: Callable[[EvalSet], EvalSet], new: EvalSet) -> Path | None:
    """Change the set in a file, or in a new file that starts as `new`; return the copy of the old file if its layout changed.

    Several of us may do so at once: one waits for the other.

    Raises:
        BadInput: as `change`.
    """
    path = path.expanduser().resolve()
    with locked(path):
        if not path.exists():
            write_whole(path, as_text(edit(new)).encode(), durable=True)
            return None
        loaded = read(path)
        return _save(path, edit(loaded.eval_set), loaded)


def _save(path: Path, eval_set: EvalSet, loaded: Loaded, *, reshape: bool = False) -> Path | None:
    try:
        before = path.read_bytes()
    except OSError:
        before = b""
    if digest_bytes(before) != loaded.digest:
        raise ChangedMeanwhile(
            "{path} was changed by someone else since it was read; nothing was written. Try again.", path=path
        )
    whole = loaded.shape != "current" and (reshape or loaded.shape != "mixed")
    data = as_text(eval_set).encode() if whole else _changed(before, eval_set, loaded.eval_set)
    copy = _keep_copy(path) if whole else None
    write_whole(path, data, durable=True)
    return copy


def _changed(before: bytes, new: EvalSet, old: EvalSet) -> bytes:
    """Return the file with the changes of the set in it."""
    text = before.decode("utf-8-sig")
    value = json.loads(text)
    key = camel("eval_cases") if camel("eval_cases") in value else "eval_cases"
    try:
        head = respell(as_json(replace(new, eval_cases=[])), {**value, key: []}, EvalSet)
        changed = rewrite(text, {**head, key: _changed_cases(new.eval_cases, old.eval_cases, value[key])})
    except ValueError as error:
        raise BadInput("The eval set cannot be written: {error}.", error=in_words(error)) from None
    return (codecs.BOM_UTF8 if before.startswith(codecs.BOM_UTF8) else b"") + changed.encode()


def _changed_cases(new: Sequence[EvalCase], old: Sequence[EvalCase], written: Sequence[object]) -> list[object]:
    """Return the cases as the file has them: those that are the same objects unchanged, others in the words of the old ones."""
    same = {id(case): index for index, case in enumerate(old)}
    by_id = {case.eval_id: index for index, case in enumerate(old)}
    by_conversation = {id(case.conversation): index for index, case in enumerate(old) if case.conversation}
    ids = {case.eval_id for case in new}
    gone = iter([index for index, case in enumerate(old) if case.eval_id not in ids])
    cases = []
    for case in new:
        index = same.get(id(case))
        if index is not None:
            cases.append(written[index])
            continue
        index = by_id.get(case.eval_id, by_conversation.get(id(case.conversation)))
        # a case with another id is in the place of one that is gone
        index = next(gone, None) if index is None else index
        cases.append(as_json(case) if index is None else respell(as_json(case), written[index], EvalCase))
    return cases


def _dump(value: object) -> str:
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only escape
        text = json.dumps(value, indent=2)
    return text + "\n"


def _keep_copy(path: Path) -> Path:
    """Copy the file next to it, under the first name that is free: `shop.evalset.json.bak`, `.bak2`, …"""
    count = 1
    while (copy := path.with_name(f"{path.name}.bak{count if count > 1 else ''}")).exists():
        count += 1
    shutil.copy2(path, copy)
    return copy
