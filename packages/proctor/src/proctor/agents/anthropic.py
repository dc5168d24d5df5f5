"""An agent that is a chat model of Anthropic: `anthropic:MODEL`, by its own Messages API."""

from proctor.agents.openai import part_of
from proctor.models import anthropic

PART = part_of("anthropic", anthropic.make, anthropic.AnthropicOptions)
