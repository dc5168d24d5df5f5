"""A scorer of a benchmark whose rule asks a model: the one that the run names as judge."""

import copy
from collections.abc import Mapping
from typing import Self

from proctor.core.judge import JudgeChoice, JudgeInfo
from proctor.core.task import Model
from proctor.models import ledger, named


class AsksModel(named.OpenedModels):
    """Holds the model, and opens it with the run; a subclass says with which defaults it is made.

    Args:
        kept: what else is open while the run goes on.

    Attributes:
        judge: what is recorded of the model, once the run named one.
    """

    def __init__(self, *kept: object) -> None:
        self.judge: JudgeInfo | None = None
        self._model: Model | None = None
        self._kept_open = kept
        super().__init__(kept)

    def with_model(self, choice: JudgeChoice, rubric: str, defaults: Mapping[str, object]) -> Self:
        """Return the same scorer with the model that the run names, if it names one.

        Args:
            rubric: what the model is asked to do, as the run records it.
            defaults: options of the model where the run gives none.
        """
        clone = copy.copy(self)
        if choice.model is not None:
            clone._model = model = named.model(choice.model, choice.options, defaults=defaults)
            clone.judge = JudgeInfo(model=choice.model, rubric=rubric, unpriced=tuple(ledger.unpriced(model)))
        named.OpenedModels.__init__(clone, [*self._kept_open, clone._model])
        return clone
