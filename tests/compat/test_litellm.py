"""litellm is large and has versions of its own of what others need; its tests run in an environment of their own."""

from pathlib import Path

import pytest
import throwaway


@pytest.mark.torture
def test_models_of_the_real_litellm() -> None:
    throwaway.run_tests("litellm", Path(__file__).with_name("in_litellm.py"))
