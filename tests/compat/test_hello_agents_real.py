"""The real hello-agents needs an openai library below version 2, so it is tested in an environment of its own."""

from pathlib import Path

import pytest
import throwaway


@pytest.mark.slow
@pytest.mark.xdist_group("hello-agents")
def test_the_real_library_as_agent_and_in_the_examples_of_the_chapter() -> None:
    throwaway.run_tests("hello-agents", Path(__file__).with_name("in_hello_agents.py"))
