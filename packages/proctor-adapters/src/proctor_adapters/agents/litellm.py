"""An agent that is a chat model of any provider that the package litellm knows: `litellm:PROVIDER/MODEL`."""

from proctor.agents.openai import part_of
from proctor_adapters.models import litellm

PART = part_of("litellm", litellm.make, litellm.LitellmOptions)
