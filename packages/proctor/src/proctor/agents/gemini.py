"""An agent that is a chat model of Google: `gemini:MODEL`, by its own Gemini API."""

from proctor.agents.openai import part_of
from proctor.models import gemini

PART = part_of("gemini", gemini.make, gemini.GeminiOptions)
