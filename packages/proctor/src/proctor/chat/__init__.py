"""Chat messages: the wire format of chat completions, its streams, tool schemas, and what agents reply in it."""
