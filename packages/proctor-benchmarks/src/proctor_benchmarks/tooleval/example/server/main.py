"""Tell a model how to imitate an API, in the example that comes with Proctor."""

system_prompt = """You imitate an API. Reply with JSON that fits its documentation and the examples: {"error": "", "response": "..."}"""
