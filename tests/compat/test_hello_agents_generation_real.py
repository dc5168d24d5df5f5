"""The data-generation names with the real hello-agents, which needs an environment of its own."""

from pathlib import Path

import pytest
import throwaway


@pytest.mark.slow
@pytest.mark.xdist_group("hello-agents")
@pytest.mark.parametrize("version", ["hello-agents", "hello-agents-0.2.7"])
def test_the_real_library_generates_judges_and_compares(version: str) -> None:
    throwaway.run_tests(version, Path(__file__).with_name("in_hello_agents_generation.py"))
