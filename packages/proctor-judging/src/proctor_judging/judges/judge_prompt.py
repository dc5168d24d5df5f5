"""Build the prompt of a judge: instructions in its language, and the item as fenced data that cannot pose as instructions."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from proctor.chat.message_text import is_chinese
from proctor.core.digest import digest
from proctor.core.sample import File, Message, Reasoning, Sample, Text, ToolCall, ToolResult
from proctor.core.trajectory import Trajectory
from proctor_judging.judges.rubric_file import JudgeRubric, Lang

if TYPE_CHECKING:
    from jinja2 import Template

MARK_DIGITS = 12
FIELDS = ("question", "reference", "answer", "solution")  # of an item, in the order they are shown
TITLES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "question": "Question",
        "conversation": "Conversation",
        "reference": "Reference answer",
        "answer": "Answer",
        "solution": "Solution",
        "example": "Example of the reference set",
    },
    "zh": {
        "question": "题目",
        "conversation": "对话",
        "reference": "参考答案",
        "answer": "答案",
        "solution": "解答",
        "example": "参考集示例",
    },
}


class ShownTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The texts of a prompt by role: the context, and those under judgement."""

    context: tuple[tuple[str, str], ...] = ()
    judged: tuple[tuple[str, str], ...] = ()

    @property
    def characters(self) -> int:
        return sum(len(text) for _, text in (*self.context, *self.judged))

    @property
    def is_empty(self) -> bool:
        return not any(text.strip() for _, text in self.judged)


def shown(sample: Sample, trajectory: Trajectory, whole: bool) -> ShownTexts:
    """Return the texts to judge: the fields of an item (`meta["item"]`), or the agent's answer to its question.

    Args:
        whole: question and solution of an item are judged with the answer; else they are context.
    """
    item = sample.known.item
    if item is None:
        return ShownTexts(context=tuple(_asked(sample, trajectory)), judged=(("answer", trajectory.answer),))
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


def language(asked: str, rubric: JudgeRubric, texts: Sequence[str]) -> Lang:
    """Return the language of the prompt: the judge's option, else that of the item if the rubric has it."""
    if asked in ("en", "zh"):
        return "zh" if asked == "zh" else "en"
    if not rubric.has("en"):
        return "zh"
    return "zh" if rubric.has("zh") and is_chinese(" ".join(texts)) else "en"


def prompt(template: str, lang: Lang, texts: ShownTexts, **values: object) -> list[Message]:
    """Return the messages of a request. All data is fenced with a mark that is its digest, which it cannot contain."""
    mark = digest([texts, [value for value in values.values() if isinstance(value, str | tuple)]])[:MARK_DIGITS]
    titles = TITLES[lang]

    def fenced(text: str, what: str) -> str:
        return f"<<<{mark} {titles.get(what, what)}\n{text.strip()}\n{mark}>>>"

    system = _template("system", lang).render(mark=mark)
    user = _template(template, lang).render(shown=texts, fenced=fenced, titles=titles, mark=mark, **values)
    return [Message.of("system", system.strip()), Message.of("user", user.strip())]


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


def _asked(sample: Sample, trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    said = [step.message for step in trajectory.steps]
    is_long = len(sample.turns) > 1 or any(len(turn.messages) > 1 for turn in sample.turns)
    if is_long or any(message.calls or message.role != "assistant" for message in said):
        yield "conversation", "\n".join(_conversation(sample, trajectory))
    elif sample.question:
        yield "question", sample.question
    reference = sample.target if sample.target is not None else _references(sample)
    if reference not in (None, "", []):
        yield "reference", reference if isinstance(reference, str) else _json(reference)


def _references(sample: Sample) -> object:
    references = [turn.reference for turn in sample.turns if turn.reference is not None]
    return references[0] if len(references) == 1 else references


def _conversation(sample: Sample, trajectory: Trajectory) -> Iterator[str]:
    last = max([len(sample.turns) - 1, *(step.turn for step in trajectory.steps)], default=-1)
    for number in range(last + 1):
        for message in sample.turns[number].messages if number < len(sample.turns) else ():
            yield from _lines(message)
        for step in trajectory.steps:
            if step.turn == number:
                yield from _lines(step.message)


def _lines(message: Message) -> Iterator[str]:
    for part in message.parts_with_files:
        match part:
            case Text(text=text):
                yield f"[{message.role}] {text}"
            case ToolCall():
                yield f"[call] {part.name} {part.arguments_text()}"
            case ToolResult():
                yield f"[result of {part.name}] {part.content}"
            case File():
                yield f"[file] {part.name or part.path or part.url or ''} ({part.media_type})"
            case Reasoning():
                pass


def _json(value: object) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()
