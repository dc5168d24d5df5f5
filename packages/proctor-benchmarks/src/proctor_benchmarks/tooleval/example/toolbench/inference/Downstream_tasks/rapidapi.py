"""The request to an agent, in the example that comes with Proctor."""

task_description = """Answer the request with the functions that you have, and end with the function Finish.
The tools are:
"""
finish_func = {
    "name": "Finish",
    "description": "End the task: with the final answer, or without one if you give up.",
    "parameters": {
        "type": "object",
        "properties": {
            "return_type": {"type": "string", "enum": ["give_answer", "give_up_and_restart"]},
            "final_answer": {"type": "string", "description": "The answer for the user, if there is one."},
        },
        "required": ["return_type"],
    },
}
