"""What a model is told that imitates APIs, of the example that comes with Proctor."""

system_prompt = """You imitate an API. Reply with JSON that fits its documentation and the examples: {"error": "", "response": "..."}"""
