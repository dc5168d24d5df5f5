"""The real hello-agents needs an openai library below version 2, so each of its versions has an environment of its own."""

from pathlib import Path

import pytest
import throwaway

HERE = Path(__file__).parent
VERSIONS = ("hello-agents", "hello-agents-0.2.7")


@pytest.mark.slow
@pytest.mark.xdist_group("hello-agents")
def test_the_real_library_as_agent() -> None:
    throwaway.run_tests("hello-agents", HERE / "in_hello_agents.py")


@pytest.mark.slow
@pytest.mark.xdist_group("hello-agents")
@pytest.mark.parametrize("version", VERSIONS)
def test_the_real_library_in_the_examples_of_the_chapter(version: str) -> None:
    throwaway.run_tests(version, HERE / "in_hello_agents_chapter.py")
