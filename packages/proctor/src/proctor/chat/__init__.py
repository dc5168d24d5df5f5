"""Chat messages: the wire format of chat completions, its streams, tool schemas, what agents reply in it, and values out of replies."""
