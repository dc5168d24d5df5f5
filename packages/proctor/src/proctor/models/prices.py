"""Price requests by the table of the package genai-prices, where the settings name it: `price_table = "genai-prices"`.

A price is that of the provider at the address, in US dollars, for each request by its own size, so that tiers are right. A
model at an address that belongs to no known provider has no price: what one's own server costs is not in a table.
"""

from typing import Any

from proctor.config import settings
from proctor.core.errors import needs
from proctor.core.trajectory import Usage

PACKAGE = "genai-prices"


class PriceTable:
    """The prices of one model at one provider.

    Attributes:
        source: the package with its version, the model and its price, for the record of a run.
    """

    def __init__(self, package: Any, model: str, url: str) -> None:
        self._package = package
        self._model = model
        self._url = url
        price = self._price(Usage())
        self.source = f"{PACKAGE} {package.__version__}: {price.provider.id}/{price.model.id}, {price.model_price}"

    def cost(self, usage: Usage) -> float:
        """Return what one request costs, in US dollars."""
        return float(self._price(usage).total_price)

    def _price(self, usage: Usage) -> Any:
        tokens = self._package.Usage(
            input_tokens=max(usage.input_tokens, usage.cached_tokens + usage.cache_write_tokens),
            cache_read_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            cache_write_1h_tokens=min(usage.cache_write_1h_tokens, usage.cache_write_tokens),
            output_tokens=usage.output_tokens,
        )
        return self._package.calc_price(tokens, self._model, provider_api_url=self._url)


def table_of(model: str, url: str) -> PriceTable | None:
    """Return the prices of a model at an address; None if the settings name no table, or a price of their own, or it has none.

    Raises:
        MissingExtra: the settings name the table, and the extra `prices` is not installed.
    """
    asked = settings()
    if asked.price_table is None or model in asked.prices:
        return None
    with needs("prices", f'price_table = "{PACKAGE}"'):
        import genai_prices
    try:
        return PriceTable(genai_prices, model, url)
    except LookupError:
        return None
