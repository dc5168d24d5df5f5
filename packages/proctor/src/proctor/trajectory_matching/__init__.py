"""Compare the tool calls that an agent made with those expected: the rules of the scorers `trajectory`, `adk` and `response`."""
