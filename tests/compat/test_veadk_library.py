"""VeADK's page on evaluation with VeADK, google-adk and DeepEval themselves, in an environment of their own."""

from pathlib import Path

import pytest
import throwaway

HERE = Path(__file__).parent


@pytest.mark.slow
def test_the_workflow_of_the_page_with_the_real_libraries() -> None:
    throwaway.run_tests("veadk", HERE / "in_veadk.py")
