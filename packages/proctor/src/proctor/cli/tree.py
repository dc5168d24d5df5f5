"""The tree of commands: what they are called, what they do, and where their code is. Help reads it and imports none of them.

A command of another package may be missing, or may not stand here at all: an entry point of the group `proctor.commands`,
named `ci.gate` for `proctor ci gate`, adds one.
"""

import sys
from importlib import import_module
from typing import NamedTuple

import click

from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say


class CommandEntry(NamedTuple):
    """A command: `code` is `module:attribute` for those of the kernel; the others are found by their entry points."""

    sentence: Sentence
    code: str = ""


HEADINGS: dict[str, tuple[Sentence, tuple[str, ...]]] = {
    "start": (say("Start"), ("demo", "init")),
    "run": (say("Run"), ("run", "score")),
    "look": (say("Look"), ("runs", "show", "web")),
    "compare": (say("Compare"), ("compare",)),
    "decide": (say("Decide"), ("ci",)),
    "judge": (say("Judging"), ("judge",)),
    "data": (say("Data"), ("data",)),
    "more": (say("More"), ("adk", "team", "list")),
}
GROUPS = {
    "runs": say("What was run, and what happened in it?"),
    "ci": say("May it ship?"),
    "judge": say("How good is an answer, and how far can its judge be trusted?"),
    "data": say("What is asked, and is it sound?"),
    "adk": say("Does an agent of ADK or VeADK pass its eval sets?"),
    "team": say("Who else works with these runs, and what did they do?"),
}
PACKAGES = ("adapters", "audit", "ci", "judging", "web")  # the extras whose packages have commands here
USUAL = {"runs": "list"}  # what a group does when no command of it is named
COMMANDS = {
    "demo": CommandEntry(
        say("See in seconds what a comparison says: two recorded agents on BFCL, scored now."),
        "proctor.cli.demo:command",
    ),
    "init": CommandEntry(
        say(
            "Write files to start from: an agent with a task and a gate, tools with a state, a watch, jobs for CI, a plugin."
        ),
        "proctor.cli.init:command",
    ),
    "run": CommandEntry(say("Run a task with an agent and show the numbers."), "proctor.cli.run:command"),
    "score": CommandEntry(say("Score recorded replies; no agent is called."), "proctor.cli.score:command"),
    "show": CommandEntry(say("Show the numbers of a run, or its failures."), "proctor.cli.show:command"),
    "web": CommandEntry(
        say("Look at runs, compare them, and write eval sets by talking with an agent, in the browser."),
    ),
    "compare": CommandEntry(say("Compare two runs on the same samples."), "proctor.cli.compare:command"),
    "list": CommandEntry(
        say(
            "List what there is and what is not installed: tasks, agents, scorers, users, environments, stores, imports, exports, files (kinds of task files) or names (of proctor)."
        ),
        "proctor.cli.list:command",
    ),
    "completion": CommandEntry(
        say(
            "Print the script with which bash, zsh or fish completes commands, options, runs, tasks, agents and scorers."
        ),
        "proctor.cli.completion:command",
    ),
    "runs list": CommandEntry(say("List the stored runs with their main number."), "proctor.cli.runs:listed"),
    "runs samples": CommandEntry(
        say("List the samples of a run, with answer, reference answer and scores."), "proctor.cli.samples:command"
    ),
    "runs explain": CommandEntry(say("Tell the whole story of one sample of a run."), "proctor.cli.explain:command"),
    "runs fork": CommandEntry(
        say("Go on from a step of a recorded trial with another model, prompt or reply, and compare what follows."),
    ),
    "runs inspect": CommandEntry(
        say(
            "Look for events in stored trajectories: loops, failures of tools, claims without evidence. No model is called."
        ),
    ),
    "runs report": CommandEntry(
        say("Write a run as a page: HTML, Markdown, JSON or JUnit."), "proctor.cli.report:command"
    ),
    "runs export": CommandEntry(say("Write a run as files for other programs."), "proctor.cli.export:command"),
    "runs import": CommandEntry(
        say("Import a log of another evaluation program as a stored run, with its scores."),
    ),
    "runs copy": CommandEntry(say("Copy runs to another store."), "proctor.cli.runs:copy"),
    "runs merge": CommandEntry(
        say("Put the shards of a run together: one run of another store."), "proctor.cli.runs:merge"
    ),
    "runs check": CommandEntry(
        say("Check that every record of runs can be read and agrees with the table of scores."),
        "proctor.cli.runs:check",
    ),
    "runs delete": CommandEntry(say("Delete runs with all their trials."), "proctor.cli.runs:delete"),
    "ci gate": CommandEntry(
        say("Decide by a policy whether a run may ship: GO (exit code 0), NO-GO (1) or INCONCLUSIVE (3)."),
    ),
    "ci tier": CommandEntry(
        say(
            "Run a tier of proctor.toml, such as quick or full, and decide by its gates; without a name, list the tiers."
        ),
    ),
    "ci race": CommandEntry(
        say("Race agents over the same samples, and stop as soon as it is decided which is better."),
    ),
    "ci plan": CommandEntry(
        say("Say how many samples and attempts a question takes, and what they cost; nothing is run."),
    ),
    "ci baseline": CommandEntry(
        say("Name runs that others are compared with; the names are kept in the store."),
    ),
    "ci delta": CommandEntry(
        say("Say why a number moved between two runs: parts in points that sum to the difference."),
    ),
    "ci trends": CommandEntry(
        say("Show the number of an agent on a task over time: when it changed, and what was changed then."),
    ),
    "ci watch": CommandEntry(
        say(
            "Run tiers or tasks when it is time or something changed, and alert people; until Ctrl-C. See proctor init watch."
        ),
    ),
    "ci comment": CommandEntry(
        say(
            "Keep one comment with a page in Markdown on the pull request (GitHub) or merge request (GitLab) of a CI job."
        ),
    ),
    "judge items": CommandEntry(
        say("Judge the items of a file, or of a stored run, by a rubric."),
    ),
    "judge winrate": CommandEntry(
        say("Compare sets of items blind, in both orders: who wins how often."),
    ),
    "judge agree": CommandEntry(
        say("How far people and judges agree, and what a judge's numbers are worth."),
    ),
    "judge probe": CommandEntry(
        say("Probe a judge for bias: position, length, style, orders in the answer."),
    ),
    "judge review": CommandEntry(
        say("Review the items of a data file by hand: scores, a status and comments, in the browser."),
    ),
    "data pull": CommandEntry(
        say("Fetch a benchmark's pinned data once; afterwards it works offline."), "proctor.cli.data:pull"
    ),
    "data stats": CommandEntry(say("Count what is in the data of a benchmark."), "proctor.cli.data:stats"),
    "data check": CommandEntry(
        say("Check a set of your own in a benchmark's layout; exit 2 when a record is wrong."), "proctor.cli.data:check"
    ),
    "data audit": CommandEntry(
        say("Audit a task before it is run: may it be trusted to tell good from bad? No model is called."),
    ),
    "data twins": CommandEntry(
        say("Write twins of questions, to see what a model earns that does not remember them. No model is called.")
    ),
    "data generate": CommandEntry(say("Have an agent write data, and say how good it is.")),
    "data parity": CommandEntry(
        say("Check our verdicts against recorded official ones."), "proctor.cli.parity:command"
    ),
    "data models": CommandEntry(
        say("Fetch a local model, or find the model servers that run here."), "proctor.cli.models:command"
    ),
    "adk eval": CommandEntry(
        say("Evaluate an agent on eval-set files, as veadk eval and adk eval do; exit code 1 when a case fails."),
    ),
    "adk chat": CommandEntry(
        say("Talk with an agent in the terminal, and keep the conversation as a case of an eval set."),
    ),
    "adk evalset": CommandEntry(
        say("Look at eval-set files (ADK), change them, and bring old ones to the current shape."),
    ),
    "adk uploadevalset": CommandEntry(say("Upload the cases of an eval-set file to CozeLoop.")),
    "team audit": CommandEntry(say("Show who changed what in the web app of a team, the newest first.")),
    "team mcp": CommandEntry(
        say(
            "Serve an assistant that speaks MCP, over standard input and output: it starts runs, reads figures, compares, and explains failures."
        ),
    ),
}
ALIASES = {  # as the documents of VeADK print them; and where a verb of its own is quicker to find
    "eval": "adk eval",
    "uploadevalset": "adk uploadevalset",
    "audit-task": "data audit",
    "inspect": "runs inspect",
    "fork": "runs fork",
}
OTHER_WORDS = {  # of other programs, or of what a command is about
    "new": "init",
    "evaluate": "run",
    "test": "ci gate",
    "view": "web",
    "serve": "web",
    "ui": "web",
    "results": "runs",
    "history": "runs",
    "start": "init",
    "quickstart": "init",
    "diff": "compare",
    "explain-delta": "ci delta",
}

OTHER_OPTIONS = {  # of `proctor run`, as other programs call them or do it
    "--task": "proctor run TASK",
    "--dataset": "proctor run FILE",
    "--data": "proctor run FILE",
    "--benchmark": "proctor run TASK",
    "--model": "--agent openai:MODEL",
    "-m": "--agent openai:MODEL",
    "-a": "--agent AGENT",
    "-n": "--limit N",
    "--max-samples": "--limit N",
    "--num-samples": "--limit N",
    "--epochs": "--attempts N",
    "--temperature": "--agent-set temperature=0",
    "--max-tokens": "--agent-set max_tokens=N",
    "--api-key": "export OPENAI_API_KEY=KEY",
    "--metric": "--scorer NAME",
    "--metrics": "--scorer NAME",
    "--name": "--run ID",
    "--output": "proctor runs report RUN --out FILE",
    "-o": "proctor runs report RUN --out FILE",
    "--out": "proctor runs report RUN --out FILE",
}


def names_in(group: str) -> list[str]:
    """Return the names in a group, or at the top level (""), in the order of the help; what is hidden is not among them."""
    if not group:
        return [name for _, names in HEADINGS.values() for name in names]
    return [path.removeprefix(f"{group} ") for path in COMMANDS if path.startswith(f"{group} ")]


def missing() -> dict[str, str]:
    """Return the commands of our packages that are not installed, each with the extra that brings it."""
    absent = [package for package in PACKAGES if not _can_import(f"proctor_{package}")]
    if not absent:
        return {}
    from proctor.core.packages import extra_by_name

    brought = extra_by_name("proctor.commands")
    return {name.replace(".", " "): extra for name, extra in brought.items() if extra in absent}


def _can_import(name: str) -> bool:
    """True if a package is there; the entry points themselves take 50 ms to read, and `importlib.util` 5 to load."""
    return any(finder.find_spec(name, None) is not None for finder in sys.meta_path)


def describe(path: str) -> str:
    """Return what a command does, or the question of a group with the names in it."""
    if path in GROUPS:
        return f"{t(GROUPS[path])} {', '.join(names_in(path))}"
    return t(COMMANDS[path].sentence)


def find_command(path: str) -> click.Command | None:
    """Import a command; None if there is none of this path.

    Raises:
        MissingExtra: it is in a package of Proctor that is not installed.
        BadInput: a package has it, and it cannot be used.
    """
    path = ALIASES.get(path, path)
    entry = COMMANDS.get(path)
    if entry is not None and entry.code:
        module, _, attribute = entry.code.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
    else:
        from proctor.runtime.entry_points import find_entry_point

        point = find_entry_point("proctor.commands", path.replace(" ", "."), needed_for=f"proctor {path}")
        if point is None:
            return None
        command = point.load()
        if not isinstance(command, click.Command):
            raise BadInput(
                "The entry point '{name}' of {group}, by {owner}, names no click command.",
                name=point.name,
                group=point.group,
                owner=point.owner,
            )
    if command.help is None and entry is not None:
        command.help = t(entry.sentence)
    return command


def not_found(group: str, word: str) -> BadInput:
    """Return the error for a word that names no command of a group, with what may have been meant."""
    from proctor.core.near import near
    from proctor.registry import unknown

    by_word = {path.rpartition(" ")[2]: path for path in [*COMMANDS, *GROUPS]} | OTHER_WORDS
    inside = names_in(group)
    close = near(word, inside)
    meant = [f"{group} {name}".strip() for name in close] or [by_word[name] for name in near(word, [*by_word])]
    if word in by_word:
        meant = [by_word[word]]
    return unknown("command", f"{group} {word}".strip(), inside, paths=False, meant=meant, most=0)
