"""The official data files: where they are, and the tasks in them.

A task of `data/tau2/domains/<domain>/tasks.json`:

    {"id": "0", "user_scenario": {"persona": null, "instructions": {"domain": "airline", "reason_for_call": "…",
     "known_info": "…", "unknown_info": null, "task_instructions": "…"}}, "initial_state": null,
     "evaluation_criteria": {"actions": [{"action_id": "0_0", "name": "get_user_details", "arguments": {"user_id": "…"}}],
     "communicate_info": ["327"], "nl_assertions": ["Agent should …"], "reward_basis": ["DB", "COMMUNICATE"]}}

Source: sierra-research/tau2-bench (MIT), commit a2c024725189, `src/tau2/data_model/tasks.py`.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from proctor.config import check_choice
from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject, Sample
from proctor.core.sentence import Sentence, say
from proctor.core.validation import in_words
from proctor.runtime.folders import cache_folder
from proctor.runtime.json_file import read_json

COMMIT = "a2c024725189473d2d7cea3a5cfdbcc67478e41f"
LICENCE = "MIT, © 2025 Sierra Research"
Domain = Literal["airline", "retail", "telecom", "telecom-workflow", "mock"]
DOMAINS: tuple[Domain, ...] = get_args(Domain)
OFFICIAL: tuple[Domain, ...] = ("airline", "retail", "telecom")  # what `tau2` alone is
DIGESTS = {  # the first 16 digits of the sha256 at the pinned commit
    "airline/db.json": "1af9fea6e03ca7ca",
    "airline/policy.md": "10dc052542152120",
    "airline/tasks.json": "ccd8ba737b4cc371",
    "mock/tasks.json": "0d8bcd14798bf2e6",
    "retail/db.json": "413a65160adbdb5f",
    "retail/policy.md": "2c9652afbce57d6e",
    "retail/tasks.json": "8e03ebce7901bd62",
    "telecom/db.toml": "562d647ef9d7df8d",
    "telecom/main_policy.md": "95943844a0cf11fd",
    "telecom/tech_support_manual.md": "015a3ee49ec8c199",
    "telecom/tech_support_workflow.md": "64f3ccd13875d14f",
    "telecom/user_db.toml": "4886107ea0c16f8e",
}
USUAL_BASIS = ("DB", "COMMUNICATE")


class ExpectedAction(msgspec.Struct, frozen=True, kw_only=True):
    """An expected call; `compare_args` are the only arguments that are compared, where there are any."""

    name: str
    arguments: dict[str, object]
    requestor: Literal["assistant", "user"] = "assistant"
    compare_args: tuple[str, ...] | None = None


class RewardCriteria(msgspec.Struct, frozen=True, kw_only=True):
    """What the reward is made of; `reward_basis` names the parts that count."""

    actions: tuple[ExpectedAction, ...] | None = None
    env_assertions: tuple[dict[str, object], ...] | None = None
    communicate_info: tuple[str, ...] | None = None
    nl_assertions: tuple[str, ...] | None = None
    reward_basis: tuple[str, ...] = USUAL_BASIS


class Instructions(msgspec.Struct, frozen=True, kw_only=True):
    """What the user wants and knows."""

    domain: str
    reason_for_call: str
    task_instructions: str
    known_info: str | None = None
    unknown_info: str | None = None


class UserScenario(msgspec.Struct, frozen=True, kw_only=True):
    """All that the simulated user knows of its task."""

    instructions: Instructions | str
    persona: str | None = None


class InitialState(msgspec.Struct, frozen=True, kw_only=True):
    """What of the start the conversation needs; the rest is read by the official environment."""

    message_history: tuple[dict[str, object], ...] | None = None


class Tau2Task(msgspec.Struct, frozen=True, kw_only=True):
    """A task; `user_tools` are the names of those that the user has, all of the domain when None."""

    id: str
    user_scenario: UserScenario
    ticket: str | None = None
    initial_state: InitialState | None = None
    evaluation_criteria: RewardCriteria | None = None
    user_tools: tuple[str, ...] | None = None

    @property
    def actions(self) -> Sequence[ExpectedAction]:
        return (self.evaluation_criteria.actions if self.evaluation_criteria else None) or ()

    @property
    def history(self) -> Sequence[dict[str, object]]:
        """Return the messages that were exchanged before the task begins."""
        return (self.initial_state.message_history if self.initial_state else None) or ()

    @property
    def judged_assertions(self) -> Sequence[str]:
        """Return the assertions that a judge has to look at for the reward."""
        criteria = self.evaluation_criteria
        return (criteria.nl_assertions if criteria and "NL_ASSERTION" in criteria.reward_basis else None) or ()

    @property
    def fits_solo(self) -> bool:
        """True if an agent can do it without a user, by the official rule (a start without words is enough)."""
        if self.initial_state is not None:
            return all(
                message["role"] == "tool" or message.get("tool_calls") is not None for message in self.history
            ) and not any(message["role"] == "user" for message in self.history)
        return self.ticket is not None and bool(self.actions)


def domains_of(category: str | Sequence[str] | None) -> list[Domain]:
    """Return the domains that are named: one, several with commas, or the three official ones.

    Raises:
        BadInput: an unknown domain.

    >>> domains_of("retail, airline"), domains_of(None)
    (['airline', 'retail'], ['airline', 'retail', 'telecom'])
    """
    parts = [category] if isinstance(category, str) else category or OFFICIAL
    wanted = {name.strip() for part in parts for name in part.split(",") if name.strip()}
    for name in sorted(wanted):
        check_choice("tau2", "domain", name, DOMAINS)
    return [name for name in DOMAINS if name in wanted]


def cached() -> Path:
    """Return the folder that `proctor data pull tau2` makes."""
    return cache_folder() / "packages" / f"tau2-bench-{COMMIT[:12]}"


def locate(source: str | Path | None = None) -> Path:
    """Return the folder of a clone or unpacked archive of the official repository.

    Args:
        source: that folder; `PROCTOR_TAU2_DATA`, else what was pulled, when None.

    Raises:
        BadInput: nothing of the kind is there.
    """
    source = source or os.environ.get("PROCTOR_TAU2_DATA") or None
    path = cached() if source is None else Path(source).expanduser().absolute()
    repositories = [path] if is_repository(path) else [folder for folder in path.glob("*/") if is_repository(folder)]
    if len(repositories) == 1:
        return repositories[0]
    if source is None:
        raise BadInput(
            "tau2 needs the official repository: fetch it once with 'proctor data pull tau2', or give a clone with --set data=DIR."
        )
    raise BadInput(
        "{path} is no clone of tau2-bench: expected src/tau2/domains and data/tau2/domains in it.", path=path
    )


def is_repository(folder: Path) -> bool:
    """True if a folder holds the official code and data."""
    return (folder / "src/tau2/domains").is_dir() and (folder / "data/tau2/domains").is_dir()


def data_folder(root: Path, domain: str) -> Path:
    """Return the folder with the files of a domain; both wordings of telecom share one."""
    return root / "data/tau2/domains" / domain.partition("-")[0]


def raw_tasks(root: Path, domain: str, split: str | None = "base") -> list[dict[str, Any]]:
    """Return the tasks of a split as they are in the files, in their order; all when `split` is None.

    Raises:
        BadInput: a file or split that is not there, or a task that has another layout.
    """
    folder = data_folder(root, domain)
    tasks = _entries(folder / "tasks.json")
    known = {task["id"] for task in tasks}
    if (small := folder / "tasks_small.json").is_file():  # in older copies these are not among the others
        tasks += [task for task in _entries(small) if task["id"] not in known]
    if split is None:
        return tasks
    splits = read_json(folder / "split_tasks.json")
    if split not in splits:
        raise BadInput(
            "{domain} has no split '{split}'. Known: {known}.", domain=domain, split=split, known=", ".join(splits)
        )
    wanted = set(splits[split])
    return [task for task in tasks if task["id"] in wanted]


def parsed(task: Mapping[str, object]) -> Tau2Task:
    """Return a task of a file.

    Raises:
        BadInput: it has another layout.
    """
    try:
        return msgspec.convert({key: value for key, value in task.items() if value is not None}, Tau2Task)
    except msgspec.ValidationError as error:
        raise BadInput("The task '{id}' of tau2: {error}.", id=task.get("id"), error=in_words(error)) from None


def sample_of(domain: str, raw: JsonObject, rules: Mapping[str, object]) -> Sample:
    """Return a task as a sample; its conversation is begun by the user, so it has no turns of its own."""
    task = parsed(raw)
    criteria = task.evaluation_criteria or RewardCriteria()
    is_judged = bool(task.judged_assertions)
    tags = {"domain": domain, "basis": "+".join(criteria.reward_basis), "judged": "yes" if is_judged else "no"}
    if domain.startswith("telecom") and raw["id"].startswith("["):
        tags["issue"] = raw["id"][1:].partition("]")[0]
    return Sample(
        id=f"{domain}/{raw['id']}",
        turns=(),
        target=raw.get("evaluation_criteria"),
        tags=tags,
        meta={"domain": domain, "task": dict(raw), "max_steps": rules["max_steps"], "rules": dict(rules)},
    )


def digests(root: Path, domain: str) -> tuple[dict[str, str], list[Sentence]]:
    """Return the digests of a domain's files and of the official code, and a note for each file that is not the pinned one."""
    folder = data_folder(root, domain)
    digests = {
        f"{folder.name}/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in sorted(folder.glob("*.*"))
        if path.suffix in (".json", ".toml", ".md") and "voice" not in path.name and "audio" not in path.name
    }
    code = hashlib.sha256()
    for path in sorted((root / "src/tau2").glob("**/*.py")):
        if path.relative_to(root / "src/tau2").parts[0] in (
            "domains",
            "environment",
            "data_model",
            "utils",
            "agent",
            "user",
        ):
            code.update(path.read_bytes())
    notes = [
        say("{file} is not that of the pinned commit of tau2-bench.", file=file)
        for file, known in DIGESTS.items()
        if file in digests and digests[file] != known
    ]
    return {**digests, "src/tau2": code.hexdigest()[:16]}, notes


def _entries(path: Path) -> list[dict[str, object]]:
    value = read_json(path)
    tasks = value.get("tasks") if isinstance(value, dict) else value
    if not isinstance(tasks, list) or not all(
        isinstance(task, dict) and isinstance(task.get("id"), str) for task in tasks
    ):
        raise BadInput("{path} holds no tasks of tau2.", path=path)
    return tasks
