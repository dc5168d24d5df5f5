"""An agent that is a model of a vLLM server: `vllm:MODEL`."""

from proctor.agents.openai import part_of
from proctor.models import vllm
from proctor.models.openai import OpenAIOptions

PART = part_of("vllm", vllm.make, OpenAIOptions)
