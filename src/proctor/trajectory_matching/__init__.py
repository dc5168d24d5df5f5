"""Compare the tool calls that an agent made with those expected: the rules behind the scorer `trajectory` and those of ADK."""
