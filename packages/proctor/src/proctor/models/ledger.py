"""Count the usage of models that a scorer or a simulated user asks, which the agent's own steps do not hold."""

from msgspec.structs import replace

from proctor.config import settings
from proctor.core.around import SpendLedger, around
from proctor.core.declared import ModelInfo, declared
from proctor.core.task import Model
from proctor.core.trajectory import Usage


def begin() -> SpendLedger:
    """Open a ledger for this task and those it starts; it takes the place of an earlier one."""
    ledger = SpendLedger()
    around.set(replace(around.get(), ledger=ledger))
    return ledger


def unpriced(model: Model) -> tuple[str, ...]:
    """Return the model if its price is not known, so that no budget in money can bound it."""
    is_known = model.name in settings().prices or declared(ModelInfo, model).reports_cost
    return () if is_known else (model.name,)


def spend(usage: Usage | None, *, model: str = "") -> None:
    """Count a call to a model, at its price in the settings if there is one; nothing happens outside a run."""
    ledger = around.get().ledger
    if ledger is None or usage is None:
        return
    price = settings().prices.get(model) if usage.cost is None and model else None
    ledger.add(usage if price is None else replace(usage, cost=price.of(usage)))
