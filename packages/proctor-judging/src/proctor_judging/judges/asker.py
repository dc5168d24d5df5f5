"""Ask a model for JSON of one shape until its reply can be read; what cannot be read never becomes a number."""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from proctor.config import settings
from proctor.core.declared import ModelInfo, declared
from proctor.core.errors import AgentFailed, JudgeFailed, ProviderFailed
from proctor.core.sample import File, Message, Text
from proctor.core.sentence import Sentence, say
from proctor.core.task import Model
from proctor.core.trajectory import Step, Usage
from proctor.i18n import speak
from proctor.models import cache, ledger
from proctor.models.judge_requests import refuse_rehearsed
from proctor.models.named import OpenedModels
from proctor.runtime.concurrent import run_together
from proctor.transport.faults import NotAccepted

T = TypeVar("T")
J = TypeVar("J", bound="Judgement")
KEPT_CHARACTERS = 8_000  # of a reply, with the verdict
QUOTED = 120
LOOP_CHARACTERS = 1_000  # a bound for free text where the model follows schemas to the letter
STOPPED = {
    "refused": "The reply was a refusal.",
    "filtered": "The reply was held back by the content filter.",
    "length": "The reply was cut off by its length limit; be brief.",
    "empty": "The reply was empty.",
}


class UnreadReply(Exception):
    """A reply that cannot be used: a short kind to count by, and the reason that the model is given."""

    def __init__(self, kind: str, reason: Sentence) -> None:
        super().__init__(str(reason))
        self.kind = kind
        self.reason = reason


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """The base of all judgements: the replies unchanged, and the usage of all tries."""

    replies: tuple[str, ...] = ()
    usage: Usage = Usage()


class Asker(OpenedModels):
    """A model that is asked for judgements; use it in `async with`, as it may need a server.

    Args:
        name: what it is called in verdicts, such as `openai:gpt-x`.
        tries: how many requests one judgement may take; each repeats the reason why the last reply could not be used.
    """

    def __init__(self, model: Model, *, name: str = "", tries: int = 3) -> None:
        super().__init__([model])
        self.name = name or model.name
        self._model = model
        self._tries = tries
        self._about = declared(ModelInfo, model)
        self._takes_schema = True
        self._price = settings().prices.get(model.name)

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Return the model if its price is not known, so that no budget in money can bound it."""
        return ledger.unpriced(self._model)

    def takes(self, file: File) -> bool:
        """True if its model is sent a picture."""
        takes = self._about.takes
        return self._about.pictures and (takes is None or bool(takes(file)))

    async def ask(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        read: Callable[[Any], J],
        *,
        lang: str = "en",
        repeat: int = 0,
    ) -> J:
        """Return the model's judgement; `read` builds it from the JSON value in the reply, or raises `UnreadReply`.

        Replies of which none can be read leave the reply cache, so that the next run asks again.

        Raises:
            JudgeFailed: no reply could be read, or the endpoint failed after all retries.
            Refused: the endpoint refuses key, model or address.
        """
        refuse_rehearsed(self.name, messages)
        usage, asked, text, failure = Usage(), messages, "", UnreadReply("empty", say("The reply was empty."))
        kept: list[cache.CacheEntry] = []
        for _ in range(self._tries):
            step = await self._complete(asked, schema, repeat, kept)
            usage = usage + (step.usage or Usage())
            text = step.message.text
            try:
                return replace(_read(step, read), replies=(text[:KEPT_CHARACTERS],), usage=usage)
            except UnreadReply as error:
                failure = error
                asked = [*messages[:-1], _again(messages[-1], error.reason, lang)]
        for entry in kept:
            entry.forget()
        raise JudgeFailed(
            "The judge {judge} gave no usable reply in {tries} tries. {reason} It said: {reply}",
            kind=failure.kind,
            judge=self.name,
            tries=self._tries,
            reason=failure.reason,
            reply=quoted(text),
        )

    async def reply(self, messages: Sequence[Message]) -> Step:
        """Return the model's reply as text, for what has no JSON form.

        Raises:
            JudgeFailed: the endpoint failed after all retries.
            Refused: the endpoint refuses key, model or address.
        """
        refuse_rehearsed(self.name, messages)
        try:
            with cache.used():
                return self._paid(await self._model.complete(messages))
        except (ProviderFailed, AgentFailed) as error:
            raise JudgeFailed(error.sentence, kind=error.kind) from error

    async def _complete(
        self, messages: Sequence[Message], schema: Mapping[str, object], repeat: int, kept: list[cache.CacheEntry]
    ) -> Step:
        more: dict[str, Any] = {} if self._about.seed is None or not repeat else {"seed": self._about.seed + repeat}
        if self._about.bounded:
            schema = _bounded(schema)
        form = {"type": "json_schema", "json_schema": {"name": "judgement", "strict": True, "schema": schema}}
        try:
            with cache.used() as places:
                if not self._takes_schema:
                    step = await self._model.complete(messages, **more)
                else:
                    try:
                        step = await self._model.complete(messages, response_format=form, **more)
                    except NotAccepted:  # perhaps of the schema: the prompt alone asks for the same
                        step = await self._model.complete(messages, **more)
                        self._takes_schema = False
            kept.extend(places)
            return self._paid(step)
        except (ProviderFailed, AgentFailed) as error:  # the second is a reply above the size limit
            raise JudgeFailed(error.sentence, kind=error.kind) from error

    def _paid(self, step: Step) -> Step:
        usage = step.usage or Usage()
        if self._price is not None and usage.cost is None:
            usage = replace(usage, cost=self._price.of(usage))
        ledger.spend(usage)
        return replace(step, usage=usage)


async def gather_most(work: Iterable[Coroutine[object, object, T]]) -> tuple[list[T], int]:
    """Return the results of repeats, and how many failed.

    Raises:
        JudgeFailed: half of them or more failed; the first failure is reported.
    """
    results = await run_together(*(_or_failure(one) for one in work))
    failures = [result for result in results if isinstance(result, JudgeFailed)]
    if len(failures) * 2 >= len(results):
        raise failures[0]
    return [result for result in results if not isinstance(result, JudgeFailed)], len(failures)


async def gather_all(work: Iterable[Coroutine[object, object, T]]) -> list[T]:
    """Return all results in order, once all have ended.

    Raises:
        JudgeFailed: one of them failed; the first failure is reported.
    """
    results = await run_together(*(_or_failure(one) for one in work))
    for result in results:
        if isinstance(result, JudgeFailed):
            raise result
    return [result for result in results if not isinstance(result, JudgeFailed)]


async def _or_failure(work: Coroutine[object, object, T]) -> T | JudgeFailed:
    """Return a failure as a value, so that the siblings end too: their requests are sent, and paid for."""
    try:
        return await work
    except JudgeFailed as error:
        return error


def quoted(value: object) -> str:
    """Quote a value of a reply, cut to the length of a message.

    >>> quoted("x" * 200)[-3:]
    'x…"'
    """
    text = msgspec.json.encode(value).decode() if not isinstance(value, str) else f'"{value}"'
    return text if len(text) <= QUOTED else f'{text[: QUOTED - 2]}…"'


def _read(step: Step, read: Callable[[Any], J]) -> J:
    from proctor_judging.replies import loose_json

    stop = step.stop if step.message.text.strip() or step.stop in STOPPED else "empty"
    if stop in STOPPED:
        raise UnreadReply(stop, say(STOPPED[stop]))
    try:
        value, values = loose_json.read(step.message.text), loose_json.read_all(step.message.text)
    except loose_json.Unreadable as error:
        raise UnreadReply("unreadable", error.reason) from None
    judgement = read(value)
    for other in values:  # the item may hold a verdict of its own, which a judge then quotes
        with suppress(UnreadReply):
            if read(other) != judgement:
                break
    else:
        return judgement
    raise UnreadReply("ambiguous", say("The reply holds two judgements."))


def _again(message: Message, reason: Sentence, lang: str) -> Message:
    """Return a request with the reason why its reply could not be used, which follows its text, or its last picture."""
    request = say(
        "Your last reply could not be used: {reason} Reply again with nothing but the JSON object.", reason=reason
    )
    again = Text(text=f"\n\n{speak(request, lang)}")
    if any(isinstance(part, File) for part in message.parts):
        return replace(message, parts=(*message.parts, again))
    return Message.of(message.role, message.text + again.text)


def _bounded(schema: Mapping[str, Any]) -> dict[str, object]:
    """Limit the free text of a schema, so that a small model cannot write on for ever."""
    properties = {
        name: {**value, "maxLength": LOOP_CHARACTERS} if value == {"type": "string"} else value
        for name, value in schema["properties"].items()
    }
    return {**schema, "properties": properties}
