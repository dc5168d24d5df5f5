"""The frame of what an agent is told, of the example that comes with Proctor."""

FORMAT_INSTRUCTIONS_SYSTEM_FUNCTION = """You call functions to do what a user asks.
{task_description}"""
FORMAT_INSTRUCTIONS_USER_FUNCTION = """{input_description}
Begin!"""
