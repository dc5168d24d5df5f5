"""What each kind of part promises, as tests: a package inherits the class of each of its parts, and says how that is made.

from proctor.testing import StoreContract

class TestMine(StoreContract):
    def open(self, folder):
        return open_mine(folder / "runs")
"""

import pytest

pytest.register_assert_rewrite(
    *(f"{__name__}.{part}" for part in ("agents", "benchmarks", "scorers", "stores", "_store_numbers"))
)

from proctor.testing.agents import AgentContract as AgentContract  # noqa: E402 - so that pytest shows the values of its asserts
from proctor.testing.benchmarks import BenchmarkContract as BenchmarkContract  # noqa: E402
from proctor.testing.scorers import ScorerContract as ScorerContract  # noqa: E402
from proctor.testing.stores import StoreContract as StoreContract  # noqa: E402
