"""Build the prompt of a judge: instructions in its language, and the item as fenced data that cannot pose as instructions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from proctor.chat.message_text import bytes_of, is_chinese
from proctor.core.digest import digest
from proctor.core.media_type import PICTURES, type_by_bytes
from proctor.core.sample import File, Message, Part, Reasoning, Sample, Text, ToolCall, ToolResult
from proctor.core.trajectory import Trajectory
from proctor_judging.judges.rubric_file import JudgeRubric, Lang

if TYPE_CHECKING:
    from jinja2 import Template

MARK_DIGITS = 12
MOST_PICTURES = 20
MOST_PICTURE_BYTES = 20_000_000  # of all pictures of a request
FIELDS = ("question", "reference", "answer", "solution")  # of an item, in the order they are shown
TITLES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "question": "Question",
        "conversation": "Conversation",
        "reference": "Reference answer",
        "answer": "Answer",
        "solution": "Solution",
        "example": "Example of the reference set",
        "picture": "Picture",
    },
    "zh": {
        "question": "题目",
        "conversation": "对话",
        "reference": "参考答案",
        "answer": "答案",
        "solution": "解答",
        "example": "参考集示例",
        "picture": "图片",
    },
}


class ShownTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The texts of a prompt by role: the context, and those under judgement.

    Attributes:
        pictures: what the texts call picture 1, 2 and so on.
        unseen: how many files the texts name and the judge is not shown.
        is_unseen: True if the answer is nothing but such files.
    """

    context: tuple[tuple[str, str], ...] = ()
    judged: tuple[tuple[str, str], ...] = ()
    pictures: tuple[File, ...] = ()
    unseen: int = 0
    is_unseen: bool = False

    @property
    def details(self) -> dict[str, object]:
        """Return what a verdict records of it."""
        return {"files_unseen": self.unseen} if self.unseen else {}

    @property
    def characters(self) -> int:
        return sum(len(text) for _, text in (*self.context, *self.judged))

    @property
    def is_empty(self) -> bool:
        return not any(text.strip() for _, text in self.judged)


def _sees_nothing(_: File) -> bool:
    return False


class ShownFiles:
    """Numbers the pictures that a judge is shown, and counts its other files.

    Args:
        sees: whether the judge is shown a file.
    """

    def __init__(self, sees: Callable[[File], bool]) -> None:
        self.pictures: list[File] = []
        self.unseen = 0
        self._sees = sees
        self._bytes = 0
        self._number_by_file: dict[int, int] = {}  # 0 for one that is not shown

    def line(self, file: File) -> str:
        """Return the line that names a file."""
        number = self.number(file)
        name = f"[file] {file.name or file.path or file.url or ''} ({file.media_type})"
        return f"{name}, picture {number}" if number else f"{name}, not shown to you"

    def number(self, file: File) -> int:
        """Return the number of a picture; 0 for a file that is not shown."""
        if id(file) not in self._number_by_file:
            data = bytes_of(file) if self._sees(file) else None
            size = self._bytes + len(data or b"")
            if (
                data is None
                or type_by_bytes(data) not in PICTURES
                or size > MOST_PICTURE_BYTES
                or len(self.pictures) == MOST_PICTURES
            ):
                self.unseen += 1
                self._number_by_file[id(file)] = 0
            else:
                self._bytes = size
                self.pictures.append(file)
                self._number_by_file[id(file)] = len(self.pictures)
        return self._number_by_file[id(file)]


def shown(
    sample: Sample, trajectory: Trajectory, whole: bool, sees: Callable[[File], bool] = _sees_nothing
) -> ShownTexts:
    """Return the texts to judge: the fields of an item (`meta["item"]`), or the agent's answer to its question.

    Args:
        whole: question and solution of an item are judged with the answer; else they are context.
        sees: whether the judge is shown a file, if it is a picture.
    """
    item = sample.known.item
    if item is None:
        return _conversed(sample, trajectory, ShownFiles(sees))
    texts = [(field, str(item[field])) for field in FIELDS if item.get(field) not in (None, "")]
    examples = tuple(("example", str(example)) for example in sample.known.examples)
    judged = {"question", "answer", "solution"} if whole else {"answer", "solution"}
    if not texts:
        return ShownTexts(context=examples, judged=(("answer", trajectory.answer),))
    if not judged & {field for field, _ in texts}:  # a document or story alone
        judged = {"question"}
    return ShownTexts(
        context=(*(pair for pair in texts if pair[0] not in judged), *examples),
        judged=tuple(pair for pair in texts if pair[0] in judged),
    )


def _conversed(sample: Sample, trajectory: Trajectory, files: ShownFiles) -> ShownTexts:
    """Return the answer to judge, with the names of its files."""
    context, answer = tuple(_asked(sample, trajectory, files)), trajectory.answer
    said = trajectory.steps[-1].message.parts if trajectory.steps else ()
    answered = [part for part in said if isinstance(part, File)]
    is_unseen = bool(answered) and not answer.strip() and not any(map(files.number, answered))
    return ShownTexts(
        context=context,
        judged=(("answer", "\n".join((answer, *map(files.line, answered)))),),
        pictures=tuple(files.pictures),
        unseen=files.unseen,
        is_unseen=is_unseen,
    )


def language(asked: str, rubric: JudgeRubric, texts: Sequence[str]) -> Lang:
    """Return the language of the prompt: the judge's option, else that of the item if the rubric has it."""
    if asked in ("en", "zh"):
        return "zh" if asked == "zh" else "en"
    if not rubric.has("en"):
        return "zh"
    return "zh" if rubric.has("zh") and is_chinese(" ".join(texts)) else "en"


def prompt(template: str, lang: Lang, texts: ShownTexts, **values: object) -> list[Message]:
    """Return the messages of a request. All data is fenced with a mark that is its digest, which it cannot contain."""
    mark = digest(
        [
            {"context": texts.context, "judged": texts.judged},
            [value for value in values.values() if isinstance(value, str | tuple)],
        ]
    )[:MARK_DIGITS]
    titles = TITLES[lang]

    def fenced(text: str, what: str) -> str:
        return f"<<<{mark} {titles.get(what, what)}\n{text.strip()}\n{mark}>>>"

    system = _template("system", lang).render(mark=mark)
    user = _template(template, lang).render(shown=texts, fenced=fenced, titles=titles, mark=mark, **values)
    asked = Message.of("user", user.strip())
    if texts.pictures:
        asked = replace(asked, parts=(*asked.parts, *_pictures(texts.pictures, lang)))
    return [Message.of("system", system.strip()), asked]


def wording(lang: Lang, *templates: str) -> str:
    """Return a digest of templates, for the version of a judge."""
    return digest([_source(name, lang) for name in ("system", *templates)])


@cache
def _template(name: str, lang: Lang) -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701 - plain text
    return environment.from_string(_source(name, lang))


@cache
def _source(name: str, lang: Lang) -> str:
    from importlib.resources import files

    return files("proctor_judging.judges").joinpath("prompts", lang, f"{name}.jinja").read_text(encoding="utf-8")


def _pictures(pictures: Sequence[File], lang: Lang) -> Iterator[Part]:
    yield Text(text="\n\n" + _template("pictures", lang).render().strip())
    for number, file in enumerate(pictures, start=1):
        yield Text(text=f"\n\n{TITLES[lang]['picture']} {number}:")
        yield file


def _asked(sample: Sample, trajectory: Trajectory, files: ShownFiles) -> Iterator[tuple[str, str]]:
    said = [step.message for step in trajectory.steps]
    is_long = len(sample.turns) > 1 or any(len(turn.messages) > 1 for turn in sample.turns)
    asked = [part for turn in sample.turns for message in turn.messages for part in message.parts]
    if is_long or any(message.calls or message.role != "assistant" for message in said):
        yield "conversation", "\n".join(_conversation(sample, trajectory, files))
    elif question := "\n".join([sample.question, *(files.line(part) for part in asked if isinstance(part, File))]):
        yield "question", question
    reference = sample.target if sample.target is not None else _references(sample)
    if reference not in (None, "", []):
        yield "reference", reference if isinstance(reference, str) else _json(reference)


def _references(sample: Sample) -> object:
    references = [turn.reference for turn in sample.turns if turn.reference is not None]
    return references[0] if len(references) == 1 else references


def _conversation(sample: Sample, trajectory: Trajectory, files: ShownFiles) -> Iterator[str]:
    last = max([len(sample.turns) - 1, *(step.turn for step in trajectory.steps)], default=-1)
    for number in range(last + 1):
        for message in sample.turns[number].messages if number < len(sample.turns) else ():
            yield from _lines(message, files)
        for step in trajectory.steps:
            if step.turn == number:
                yield from _lines(step.message, files)


def _lines(message: Message, files: ShownFiles) -> Iterator[str]:
    for part in message.parts_with_files:
        match part:
            case Text(text=text):
                yield f"[{message.role}] {text}"
            case ToolCall():
                yield f"[call] {part.name} {part.arguments_text()}"
            case ToolResult():
                yield f"[result of {part.name}] {part.content}"
            case File():
                yield files.line(part)
            case Reasoning():
                pass


def _json(value: object) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()
