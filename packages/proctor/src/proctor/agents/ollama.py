"""An agent that is a model of an Ollama server: `ollama:MODEL`."""

from proctor.agents.openai import part_of
from proctor.models import ollama
from proctor.models.openai import OpenAIOptions

PART = part_of("ollama", ollama.make, OpenAIOptions)
