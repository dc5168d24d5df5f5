"""Read MULTI's files: questions, knowledge, captions, lists of ids.

One problem of problem_v1.3.1_20241210.json (the file that ends in `_release` has no answers):
"czsx_1_7": {"problem_id": "czsx_1_7", "subject": ["初中数学"], "education": "初中", "problem_content": "如图[IMAGE_1]，…",
  "problem_content_list": ["求[MASK]。"], "problem_type_list": ["填空"], "problem_answer_list": ["5"],
  "problem_analysis_list": ["…"], "knowledge": ["勾股定理"], "img_paths": ["images/czsx/1_7.png"]}
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.validation import in_words
from proctor.runtime.files import reading
from proctor_benchmarks.multi.images import tokens_in

TYPES = {"单选": "SA", "多选": "MA", "填空": "FB", "解答": "OP", "其他": "Other"}
EDUCATION = {"初中": "JuH", "高中": "SeH", "大学": "Uni", "社会": "Soc", "其他": "Other"}
BY_SUBJECT = {"驾考": "Driving", "行测": "AAT"}  # subjects that count as a level of education
SAMPLE = "sample"
OCR = "ocr"
_CAPTIONS, _TEXTS = "captions_*.csv", "ocr_*.csv"

Key = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class _Problem(msgspec.Struct):
    problem_content: str
    problem_content_list: list[str]
    problem_type_list: list[str]
    problem_id: str = ""
    subject: list[str] = []
    education: str = "其他"
    problem_answer_list: list[str | None] | None = None
    problem_analysis_list: list[str | None] | None = None
    knowledge: list[str] | str = []
    img_paths: list[str] = []


class KnowledgePiece(msgspec.Struct, frozen=True):
    """A piece of background knowledge with its images."""

    knowledge_content: str
    knowledge_images: list[str] = []


class SubQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One sub-question; `label` is None in a release without answers."""

    id: str
    problem: str
    text: str
    type: str
    subject: str
    education: str
    label: str | None
    analysis: str = ""
    knowledge: Sequence[str] = ()
    images: Sequence[str] = ()

    @property
    def topic(self) -> str:
        """The name of the subject, as the prompt writes it."""
        return self.knowledge[0] if self.knowledge else self.subject

    @property
    def image_number(self) -> int:
        """The number of image tokens in the text."""
        return len(tokens_in(self.text))

    @property
    def level(self) -> str:
        """The code of the education level; two subjects are levels of their own."""
        return BY_SUBJECT.get(self.subject) or EDUCATION.get(self.education, "Other")


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """The paths of all files of the set; `images` is the folder that image paths are relative to."""

    problems: Path
    images: Path
    knowledge: Path | None = None
    captions: Path | None = None


def locate(
    data: str, *, knowledge: bool | str = False, captions: str | None = None, need_captions: bool = False
) -> Files:
    """Return the files of a data folder, or of one problem file; `sample` is the small set that comes with Proctor.

    Args:
        knowledge: false for none, true for the folder's own, or a path.
        captions: a csv file of captions or recognised text; `ocr` for the folder's recognised text; the folder's
            captions, else its recognised text (when needed) if None.

    Raises:
        BadInput: nothing, or something else, is there.
    """
    root = (
        Path(str(files("proctor_benchmarks.multi").joinpath("sample"))) if data == SAMPLE else Path(data).expanduser()
    )
    problems = root if root.is_file() else _one(root, "problem_*.json", _without_answers)
    folder = problems.parent
    return Files(
        problems=problems,
        images=folder,
        knowledge=_find_file(knowledge, folder, "knowledge_*.json"),
        captions=_captions(captions, folder, needed=need_captions),
    )


def image_path(path: str) -> str:
    """Return the path of an image from the folder of the data; real files name them from the folder of the original's scripts.

    >>> image_path("../data/images/czsx/1_7.png"), image_path("images/czsx/1_7.png"), image_path("czsx/1_7.png")
    ('images/czsx/1_7.png', 'images/czsx/1_7.png', 'czsx/1_7.png')
    """
    _, folder, rest = path.replace("\\", "/").rpartition("/images/")
    return f"images/{rest}" if folder else path


def questions(path: Path) -> Iterator[SubQuestion]:
    """Yield all sub-questions, in the order of the file; what depends on the type is left to the caller.

    Raises:
        BadInput: the layout is wrong, an id is there twice, or lists of a problem differ in length.
    """
    seen: set[str] = set()
    for id, problem in _problems(path):
        if id in seen:
            raise BadInput("{path}: the problem '{id}' is there twice.", path=path, id=id)
        seen.add(id)
        yield from _questions(path, id, problem)


def knowledge(path: Path) -> Mapping[str, KnowledgePiece]:
    """Return the pieces of background knowledge by key.

    Raises:
        BadInput: the layout is wrong.
    """
    pieces: dict[str, KnowledgePiece] = _decode(path, dict[str, KnowledgePiece])
    return {
        key: msgspec.structs.replace(piece, knowledge_images=[image_path(image) for image in piece.knowledge_images])
        for key, piece in pieces.items()
    }


def captions(path: Path) -> Mapping[str, str]:
    """Read captions by image path, which ends at the first comma of a line; quotes have no meaning.

    Raises:
        BadInput: a line without a comma, or no text file.
    """
    captions: dict[str, str] = {}
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        image, comma, caption = line.partition(",")
        if not comma:
            raise BadInput("{path}, line {line}: expected an image path, a comma and a text.", path=path, line=number)
        captions[image_path(image.strip())] = caption.strip()
    return captions


def subset(path: Path) -> frozenset[str]:
    """Return the ids of a list of questions.

    Raises:
        BadInput: it is no JSON list of texts.
    """
    return frozenset(_decode(path, list[str]))


def _problems(path: Path) -> Iterator[tuple[str, _Problem]]:
    decoded = _decode(path, dict[Key, _Problem] | list[_Problem])
    if isinstance(decoded, dict):
        yield from decoded.items()
        return
    for number, problem in enumerate(decoded):
        if not problem.problem_id:
            raise BadInput("{path}: the problem at $[{number}] has no problem_id.", path=path, number=number)
        yield problem.problem_id, problem


def _questions(path: Path, id: str, problem: _Problem) -> Iterator[SubQuestion]:
    count = len(problem.problem_content_list)
    lengths = {
        "problem_type_list": problem.problem_type_list,
        "problem_answer_list": problem.problem_answer_list,
        "problem_analysis_list": problem.problem_analysis_list,
    }
    for name, listed in lengths.items():
        if listed is not None and len(listed) != count:
            raise BadInput(
                "{path}: the problem '{id}' has {count} questions, but {found} entries in {name}.",
                path=path,
                id=id,
                count=count,
                found=len(listed),
                name=name,
            )
    answers = problem.problem_answer_list or [None] * count
    analyses = problem.problem_analysis_list or [None] * count
    keys = (problem.knowledge,) if isinstance(problem.knowledge, str) else tuple(problem.knowledge)
    for index, text in enumerate(problem.problem_content_list):
        answer = answers[index]
        yield SubQuestion(
            id=f"{id}_{index}",
            problem=id,
            text=f"{problem.problem_content}\n{text}",
            type=problem.problem_type_list[index],
            subject=problem.subject[0] if problem.subject else "",
            education=problem.education,
            label=answer.strip() if answer is not None else None,
            analysis=analyses[index] or "",
            knowledge=keys,
            images=tuple(map(image_path, problem.img_paths)),
        )


def _decode(path: Path, kind: object) -> Any:
    try:
        return msgspec.json.decode(_text(path), type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BadInput("{path}: {error}.", path=path, error=in_words(error)) from None


def _text(path: Path) -> str:
    with reading(path):
        return path.read_text(encoding="utf-8-sig")


def _without_answers(path: Path) -> bool:
    return path.stem.endswith("_release")


def _captions(asked: str | None, folder: Path, *, needed: bool) -> Path | None:
    if asked == OCR or (asked is None and not any(folder.glob(_CAPTIONS)) and any(folder.glob(_TEXTS))):
        return _find_file(needed or asked == OCR, folder, _TEXTS)
    return _find_file(asked or needed, folder, _CAPTIONS)


def _find_file(asked: bool | str, folder: Path, pattern: str) -> Path | None:
    if isinstance(asked, str):
        path = Path(asked).expanduser()
        if not path.is_file():
            raise BadInput("There is no file {path}.", path=path)
        return path
    return _one(folder, pattern, lambda _: False) if asked else None


def _one(folder: Path, pattern: str, last: Any) -> Path:
    """Return the newest file of a pattern (versions are in the names); those that are `last` only where there is no other."""
    paths = sorted(
        (path for path in folder.glob(pattern) if path.is_file()), key=lambda path: (not last(path), path.name)
    )
    if not paths:
        raise BadInput(
            "{folder} is no MULTI folder: there is no {pattern} in it. Give one: --set data=PATH (data=sample is a small set that comes with Proctor).",
            folder=folder,
            pattern=pattern,
        )
    return paths[-1]
