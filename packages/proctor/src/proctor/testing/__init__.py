"""What each kind of part promises, as tests: a package inherits the class of each of its parts, and says how that is made.

from proctor.testing import StoreContract

class TestMine(StoreContract):
    def open(self, folder):
        return open_mine(folder / "runs")
"""

from proctor.testing.agents import AgentContract as AgentContract
from proctor.testing.benchmarks import BenchmarkContract as BenchmarkContract
from proctor.testing.scorers import ScorerContract as ScorerContract
from proctor.testing.stores import StoreContract as StoreContract
