"""Ask the model that hosts the puzzles."""

from collections.abc import Mapping

from proctor.core.errors import BadInput, PartFailed, UserFailed
from proctor.core.sample import Message
from proctor.models import ledger
from proctor.models.named import OpenedModels, model


class PuzzleHost(OpenedModels):
    """A model that knows the truth of each puzzle; officially gpt-3.5-turbo-0613 at temperature 0.

    Attributes:
        unpriced: the model, if its price is not known.
    """

    def __init__(self, given: str | Mapping[str, object] | None) -> None:
        options = {"model": given} if isinstance(given, str) else dict(given or {})
        name = str(options.pop("model", ""))
        self._model = model(name, options, defaults={"temperature": 0.0}) if name else None
        self.unpriced = () if self._model is None else ledger.unpriced(self._model)
        super().__init__([self._model])

    async def __aenter__(self) -> "PuzzleHost":
        if self._model is None:
            raise BadInput("The part puzzles needs a model as its host: --set host=openai:MODEL")
        await super().__aenter__()
        return self

    async def __call__(self, messages: list[Message]) -> str:
        """Return what the host says.

        Raises:
            UserFailed: the model failed.
        """
        assert self._model is not None, "the host was not entered"
        try:
            step = await self._model.complete(messages)
        except PartFailed as error:
            raise UserFailed(error.sentence, kind=error.kind) from error
        ledger.spend(step.usage, model=self._model.name)
        return step.message.text.strip()
