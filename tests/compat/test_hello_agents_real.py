"""The real hello-agents needs an openai library below version 2, so each of its versions has an environment of its own."""

from pathlib import Path

import pytest
import throwaway

HERE = Path(__file__).parent
CHAPTER = (HERE / "in_hello_agents_chapter.py", HERE / "in_hello_agents_generation.py")


@pytest.mark.slow
def test_the_real_library_as_agent_in_the_examples_of_the_chapter_and_as_writer_and_judge() -> None:
    throwaway.run_tests("hello-agents", HERE / "in_hello_agents.py", *CHAPTER)


@pytest.mark.torture
def test_the_version_of_the_chapter_in_its_examples() -> None:
    throwaway.run_tests("hello-agents-0.2.7", *CHAPTER)
