"""What a model is asked, of the example that comes with Proctor."""

api_call_prompt = """
Which call comes next? Reply with it alone, as [ToolName(key1='value1', key2='value2')]. The tools:
"""
response_prompt = """
What does the assistant say to the user next? Reply with its words alone. The tools:
"""
