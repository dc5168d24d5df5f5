"""The question about a final answer, of the example that comes with Proctor."""

PROMPT = """Does the answer give what the query asks for? Reply with Solved or Unsolved.

Query: {query}
Answer: {answer}
"""
