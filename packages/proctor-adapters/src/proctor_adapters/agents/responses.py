"""An agent that is a chat model of OpenAI by its Responses API: `responses:MODEL`."""

from proctor.agents.openai import part_of
from proctor_adapters.models import responses

PART = part_of("responses", responses.make, responses.ResponsesOptions)
