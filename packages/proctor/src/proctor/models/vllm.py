"""Models of a vLLM server: `vllm:MODEL`, at VLLM_BASE_URL or on its usual port of this machine."""

import os
from collections.abc import Mapping

from proctor.core.parts import ModelPart
from proctor.models.openai import ChatModel, OpenAIOptions, make_served

ADDRESS = "http://localhost:8000/v1"


def make(argument: str, options: Mapping[str, object]) -> ChatModel:
    """Return the model `vllm:MODEL` with the options of `openai:`."""
    return make_served("vllm", argument, options, os.environ.get("VLLM_BASE_URL") or ADDRESS, "VLLM_API_KEY")


PART = ModelPart(make=make, options=OpenAIOptions)
