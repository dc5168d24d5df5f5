"""The texts that models are given, read from the official sources: the literals are taken out of them, nothing is run.

Files: `agent/llm_agent.py`, `user/user_simulator.py`, `orchestrator/orchestrator.py` and
`evaluator/evaluator_nl_assertions.py` of `src/tau2`, and `data/tau2/user_simulator/*.md`.
"""

import ast
import textwrap
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from proctor.core.errors import BadInput
from proctor.runtime.files import reading
from proctor_benchmarks.tau2.dataset import ExpectedAction, Instructions, Tau2Task, UserScenario
from proctor_benchmarks.tau2.messages import STOP
from proctor_judging.replies.python_source import parse

Role = Literal["agent", "ground_truth", "solo"]
_NAMES = {"agent": "AGENT_INSTRUCTION", "ground_truth": "AGENT_GT_INSTRUCTION", "solo": "AGENT_SOLO_INSTRUCTION"}
_PROMPTS = {"agent": "SYSTEM_PROMPT", "ground_truth": "SYSTEM_PROMPT_GT", "solo": "SYSTEM_PROMPT_SOLO"}
DONE = "done"


class Tau2Words(msgspec.Struct, frozen=True, kw_only=True):
    """The official literals of one copy of the repository."""

    agent: Mapping[str, str]
    steps: Mapping[str, str]
    user: str
    guidelines: str
    guidelines_with_tools: str
    greeting: str
    done: str
    judge_system: str
    judge_request: str

    def agent_system(self, role: Role, policy: str, task: Tau2Task) -> str:
        """Return the system prompt of the agent."""
        instruction = self.agent[_NAMES[role]]
        if role == "solo":
            instruction = instruction.format(stop_function_name=DONE, stop_token=STOP)
        values = {"agent_instruction": instruction}
        if role == "ground_truth":
            steps = (self._step(action) for action in task.actions)
            values["resolution_steps"] = "\n".join(
                f"[Step {number}] {step}" for number, step in enumerate(steps, start=1)
            )
        return self.agent[_PROMPTS[role]].format(**values, domain_policy=policy, ticket=task.ticket)

    def _step(self, action: ExpectedAction) -> str:
        arguments = ", ".join(f"{key}={value}" for key, value in action.arguments.items())
        return self.steps[action.requestor].format(call=f"{action.name}({arguments})")

    def user_system(self, scenario: UserScenario, *, tools: bool) -> str:
        """Return the system prompt of the simulated user."""
        guidelines = self.guidelines_with_tools if tools else self.guidelines
        return self.user.format(
            global_user_sim_guidelines_with_persona=guidelines.replace("<PERSONA_GUIDELINES>", ""),
            instructions=scenario_text(scenario),
        )

    def done_tool(self) -> dict[str, object]:
        """Return the tool with which an agent ends a task that has no simulated user."""
        empty = {"properties": {}, "title": "parameters", "type": "object"}
        return {"type": "function", "function": {"name": DONE, "description": self.done, "parameters": empty}}

    def judge_messages(self, transcript: str, assertions: Sequence[str]) -> tuple[str, str]:
        """Return the system prompt and the request of the judge of assertions in natural language."""
        return self.judge_system, self.judge_request.format(trajectory_str=transcript, nl_assertions=[*assertions])


def scenario_text(scenario: UserScenario) -> str:
    """Return a scenario as the simulated user reads it."""
    lines = ["Persona:", _indented(scenario.persona)] if scenario.persona is not None else []
    given = scenario.instructions
    return "\n".join(
        [*lines, "Instructions:", _indented(given if isinstance(given, str) else _instructions_text(given))]
    )


def _instructions_text(given: Instructions) -> str:
    sections = {
        "Reason for call": given.reason_for_call,
        "Known info": given.known_info,
        "Unknown info": given.unknown_info,
        "Task instructions": given.task_instructions,
    }
    shown = [f"{title}:\n{_indented(text)}" for title, text in sections.items() if text is not None]
    return "\n".join([f"Domain: {given.domain}", *shown])


def _indented(text: str) -> str:
    return textwrap.indent(text, "\t")


@lru_cache(maxsize=4)
def read(root: Path) -> Tau2Words:
    """Return the literals of a copy of the repository.

    Raises:
        BadInput: a file is missing, or holds no such literal.
    """
    source = root / "src/tau2"
    agent = parse(source / "agent/llm_agent.py")
    judge = _function(parse(source / "evaluator/evaluator_nl_assertions.py"), "evaluate_nl_assertions")
    guidelines = root / "data/tau2/user_simulator"
    return Tau2Words(
        agent={name: _literal(agent, name) for name in (*_NAMES.values(), *_PROMPTS.values())},
        steps=dict(zip(("user", "assistant"), _steps(agent), strict=True)),
        user=_literal(parse(source / "user/user_simulator.py"), "SYSTEM_PROMPT"),
        guidelines=_text(guidelines / "simulation_guidelines.md"),
        guidelines_with_tools=_text(guidelines / "simulation_guidelines_tools.md"),
        greeting=_greeting(parse(source / "orchestrator/orchestrator.py")),
        done=ast.get_docstring(_function(agent, DONE)) or "",
        judge_system=_literal(judge, "system_prompt"),
        judge_request=_literal(judge, "user_prompt"),
    )


def _text(path: Path) -> str:
    with reading(path):
        return path.read_text(encoding="utf-8")


def _function(tree: ast.Module, name: str) -> ast.FunctionDef:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise BadInput("The official code has no '{name}' where it was expected.", name=name)


def _steps(tree: ast.Module) -> list[str]:
    """Return the wordings of an action of the user and of one of the agent, in that order."""
    function = _function(tree, "make_agent_instructions_from_action")
    texts = [node for node in ast.walk(function) if isinstance(node, ast.JoinedStr)]
    texts.sort(key=lambda node: node.lineno)
    with_calls = [text for text in texts if any(isinstance(node, ast.Call) for node in ast.walk(text))]
    return ["".join(_piece(value, call="call") for value in text.values) for text in with_calls]


def _literal(tree: ast.AST, name: str) -> str:
    """Return the text that is given to a name, as a template of `format` where it is an f-string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in node.targets):
            match node.value:
                case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="strip"), args=[]):
                    return text.strip()
                case ast.Constant(value=str(text)):
                    return text
                case ast.JoinedStr(values=values):
                    return "".join(map(_piece, values))
    raise BadInput("The official code has no '{name}' where it was expected.", name=name)


def _piece(value: ast.expr, call: str = "") -> str:
    match value:
        case ast.FormattedValue(value=ast.Call()) if call:
            return f"{{{call}}}"
        case ast.Constant(value=str(text)):
            return text.replace("{", "{{").replace("}", "}}")
        case ast.FormattedValue(value=ast.Name(id=name), conversion=-1, format_spec=None):
            return f"{{{name}}}"
    raise BadInput("The official code has no '{name}' where it was expected.", name="f-string")


def _greeting(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id="DEFAULT_FIRST_AGENT_MESSAGE")], value=ast.Call(keywords=keywords)):
                given = {keyword.arg: keyword.value for keyword in keywords}
                match given.get("content"):
                    case ast.Constant(value=str(text)):
                        return text
    raise BadInput("The official code has no '{name}' where it was expected.", name="DEFAULT_FIRST_AGENT_MESSAGE")
