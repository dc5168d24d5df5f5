"""MLflow and Weights & Biases are large; their tests run in an environment of their own, with the newest OpenTelemetry."""

from pathlib import Path

import pytest
import throwaway

HERE = Path(__file__).parent


@pytest.mark.torture
def test_runs_are_logged_to_the_real_trackers() -> None:
    throwaway.run_tests("trackers", HERE / "in_trackers.py", HERE.parent / "exports" / "test_otel.py")
