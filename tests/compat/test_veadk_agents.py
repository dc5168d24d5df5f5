"""Agents and runners of the real VeADK, in an environment of its own."""

from pathlib import Path

import pytest
import throwaway


@pytest.mark.slow
def test_agents_and_runners_of_veadk_are_evaluated_and_recorded() -> None:
    throwaway.run_tests("veadk", Path(__file__).with_name("in_veadk_agents.py"))
