"""The frame of the prompt of an agent, in the example that comes with Proctor."""

FORMAT_INSTRUCTIONS_SYSTEM_FUNCTION = """You call functions to do what a user asks.
{task_description}"""
FORMAT_INSTRUCTIONS_USER_FUNCTION = """{input_description}
Begin!"""
