"""VeADK's page on evaluation, and its agents and runners, with the real libraries in an environment of their own."""

from pathlib import Path

import pytest
import throwaway

HERE = Path(__file__).parent


@pytest.mark.slow
def test_the_workflow_of_the_page_and_agents_and_runners_with_the_real_libraries() -> None:
    throwaway.run_tests("veadk", HERE / "in_veadk.py", HERE / "in_veadk_agents.py")
