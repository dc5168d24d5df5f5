"""A set of your own in GAIA's layout: a template to start from, and a check that names what is wrong with it."""

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import get_args

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor_benchmarks.gaia import dataset
from proctor_benchmarks.gaia.answer import final_answer
from proctor_benchmarks.gaia.dataset import GaiaItem, Split
from proctor_benchmarks.gaia.scorer import question_score

ID = re.compile(r"\w(?:[\w.-]{0,198}\w)?")
ID_CHARACTERS = "a-z 0-9 . _ -"
THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
# 50%, $5, 12 km, 30 km/h
WITH_UNIT = re.compile(r"[-+]?\s?[$€£¥]?\s?[-+]?\d[\d,._ ]*\s?(?:[%‰$€£¥°]|[^\W\d_]{1,12}(?:/[^\W\d_]{1,3})?)?\.?")
JOINED = re.compile(r"\d[^\w\s]\d")


class SetFinding(msgspec.Struct, frozen=True, kw_only=True):
    """An error in a record, or a warning about what may be a mistake."""

    sentence: Sentence
    wrong: bool


class SetCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The result of checking a set: how many records were read, and the findings."""

    records: int
    findings: tuple[SetFinding, ...]

    @property
    def wrong(self) -> int:
        return sum(finding.wrong for finding in self.findings)


def write_template(folder: Path) -> list[Path]:
    """Write three example questions with an attachment and a guide, to be replaced by your own.

    Raises:
        BadInput: the folder has something in it already, or is a file.
    """
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise BadInput("{folder} is not empty. Name a new folder.", folder=folder)
    return list(_copy(files("proctor_benchmarks.gaia") / "template", folder))


def check(root: Path) -> SetCheck:
    """Read every record of every split and say what is wrong, instead of stopping at the first.

    Raises:
        BadInput: the folder is in no known layout.
    """
    findings: list[SetFinding] = []
    records = 0
    for split, folder in _splits(root):
        used: set[Path] = set()
        seen: dict[str, str] = {}
        for where, raw in dataset.records(folder):
            records += 1
            try:
                record = dataset.decode_record(raw, where)
                item = dataset.item_of(record, where, folder, root)
            except BadInput as error:
                findings.append(SetFinding(sentence=error.sentence, wrong=True))
                continue
            if item.id == dataset.PLACEHOLDER:
                findings.append(_warning(say("{where}: the id '{id}' is never asked.", where=where, id=item.id)))
                continue
            if item.attachment is not None:
                used.add(item.attachment)
            findings += _findings(item, record, where, split, seen)
        findings += _unused(folder, used)
    if not records:
        findings.append(_wrong(say("{folder} holds no question.", folder=root)))
    return SetCheck(records=records, findings=tuple(findings))


def _copy(source: Traversable, folder: Path) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for entry in sorted(source.iterdir(), key=lambda entry: entry.name):
        target = folder / entry.name
        if entry.is_dir():
            yield from _copy(entry, target)
        else:
            target.write_bytes(entry.read_bytes())
            yield target


def _splits(root: Path) -> Iterator[tuple[Split, Path]]:
    """Yield the splits that are there; a folder that holds its metadata itself counts as validation."""
    splits: dict[Path, Split] = {}
    for split in get_args(Split):
        try:
            splits.setdefault(dataset.split_folder(root, split), split)
        except BadInput:
            continue
    if not splits:
        dataset.split_folder(root, "validation")  # says what was looked for
    yield from ((split, folder) for folder, split in splits.items())


def _findings(
    item: GaiaItem, record: Mapping[str, object], where: str, split: Split, seen: dict[str, str]
) -> Iterator[SetFinding]:
    if item.id in seen:
        yield _wrong(
            say("{where}: the id '{id}' was used already at {first}.", where=where, id=item.id, first=seen[item.id])
        )
    seen.setdefault(item.id, where)
    if not ID.fullmatch(item.id):
        yield _wrong(
            say("{where}: the id '{id}' has signs other than {known}.", where=where, id=item.id, known=ID_CHARACTERS)
        )
    if item.level < 1:
        yield _wrong(say("{where}: levels start at 1, not at {level}.", where=where, level=item.level))
    annotator = record.get("Annotator Metadata", record.get("annotator_metadata"))
    steps = annotator.get("Number of steps") if isinstance(annotator, Mapping) else None
    if item.steps is None and steps not in (None, ""):
        yield _warning(say("{where}: the number of steps '{steps}' is no whole number.", where=where, steps=steps))
    if item.answer is None or not item.answer.strip():
        if split == "validation" or item.answer is not None:
            yield _wrong(say("{where}: there is no answer.", where=where))
    elif split == "validation":
        yield from _about_answer(item.answer, where)


def _about_answer(answer: str, where: str) -> Iterator[SetFinding]:
    """Yield whether the scorer accepts the answer itself and nothing else, and how it will read it."""
    match = question_score(answer, answer)
    back = final_answer(f"FINAL ANSWER: {answer}")
    if not match.right:
        yield _wrong(say("{where}: the rule does not accept '{answer}' as its own answer.", where=where, answer=answer))
    elif back is None or not question_score(back, answer).right:
        yield _wrong(
            say(
                "{where}: 'FINAL ANSWER: {answer}' is read as '{back}', which is wrong.",
                where=where,
                answer=answer,
                back="" if back is None else back,
            )
        )
    elif back != answer:
        yield _warning(
            say(
                "{where}: 'FINAL ANSWER: {answer}' is read as '{back}'; write it so.",
                where=where,
                answer=answer,
                back=back,
            )
        )
    if match.right and any(question_score(nothing, answer).right for nothing in (None, "")):
        yield _wrong(say("{where}: no answer at all would count as '{answer}'.", where=where, answer=answer))
    yield from _about_reading(answer, match.branch, where)


def _about_reading(answer: str, branch: str, where: str) -> Iterator[SetFinding]:
    text = answer.strip()
    if THOUSANDS.fullmatch(text):
        yield _warning(
            say(
                "{where}: '{answer}' is a list for the rule, because of its comma; as a number write {number}.",
                where=where,
                answer=answer,
                number=text.replace(",", ""),
            )
        )
    elif branch == "list":
        count = len(re.split("[,;]", answer))
        yield _warning(
            say("{where}: '{answer}' is a list of {count}, compared in order.", where=where, answer=answer, count=count)
        )
    elif branch == "text" and WITH_UNIT.fullmatch(text):
        yield _warning(
            say(
                "{where}: '{answer}' is compared as text; answer with the number alone and ask for the unit in the question.",
                where=where,
                answer=answer,
            )
        )
    elif branch == "text" and JOINED.search(text):
        bare = re.sub(r"[^\w\s]", "", text)
        yield _warning(
            say(
                "{where}: '{answer}' is compared without its signs; '{bare}' would be right too.",
                where=where,
                answer=answer,
                bare=bare,
            )
        )


def _unused(folder: Path, used: set[Path]) -> Iterator[SetFinding]:
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.resolve() not in used and not path.name.startswith((".", "metadata.")):
            yield _warning(say("{path}: no question uses this file.", path=path))


def _wrong(sentence: Sentence) -> SetFinding:
    return SetFinding(sentence=sentence, wrong=True)


def _warning(sentence: Sentence) -> SetFinding:
    return SetFinding(sentence=sentence, wrong=False)
