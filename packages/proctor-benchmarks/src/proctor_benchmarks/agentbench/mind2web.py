"""Read the choice and the action out of a reply to a page of Mind2Web.

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7, `src/server/tasks/mind2web/task.py` (`postprocess_action_llm`).
"""

import re

_CHOICE = re.compile(r"Answer: (A|B|C|D|E|F)")
_ACTION = re.compile(r"Action: (CLICK|SELECT|TYPE)")
_VALUE = re.compile(r"Value: (.*)$", re.MULTILINE)


def parse(text: str) -> tuple[str, str]:
    """Return the letter that was chosen, A (none of them) without one, and the action with its value.

    >>> parse("Answer: C. Action: SELECT\\nValue: Queen"), parse("I would click it.")
    (('C', 'SELECT Queen'), ('A', ' '))
    """
    text = text.strip()
    choice, action, value = (pattern.search(text) for pattern in (_CHOICE, _ACTION, _VALUE))
    done = action.group(1) if action else ""
    return choice.group(1) if choice else "A", f"{done} {value.group(1).strip() if value else ''}"
