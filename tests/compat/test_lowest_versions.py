"""The lowest versions that pyproject.toml allows do work: the core, and the extras that are quickly installed.

`make lock` writes lowest.txt out of lowest.in and pyproject.toml. The other extras are too large to be installed for each
change; their floors were found in the same way, with the tests of their agents and files.
"""

from pathlib import Path

import pytest
import throwaway

TESTS = Path(__file__).parents[1]
FILES = (
    "compat/in_lowest_versions.py",
    "downloads/test_hub.py",
    "scorers/test_json.py",
    "transport/test_client.py",
    "transport/test_parsing.py",
)


@pytest.mark.slow
@pytest.mark.torture
def test_the_lowest_versions_do() -> None:
    throwaway.run_tests("lowest", *(TESTS / file for file in FILES))
