"""Search for a text with the commands of a shell: in files, variables, processes and version histories.

No command holds the text itself, so that a terminal that shows what is typed, or a list of processes, does not give it away.
Each command ends by printing `DONE`, unless it ran out of time: where that is missing, the place was not searched.
"""

from collections.abc import Sequence

from proctor.core.sample import Tool
from proctor_audit.inspector.tool_kinds import is_shell, words_of

SECONDS = 4  # for one command
DONE = "searched42"
LANGUAGES = frozenset(("code", "interpreter", "python", "query", "repl", "sql"))  # they run no command of a shell
ARGUMENTS = frozenset(("cmd", "command", "commands", "script"))
LEFT_OUT = " ".join(f"--exclude-dir={name}" for name in ("bin", "dev", "lib", "lib64", "proc", "sbin", "sys", "usr"))
GREP = f"grep -rIsohE --line-buffered {LEFT_OUT} PATTERN"
COMMAND_BY_PLACE = {
    "files": f"{GREP} . .. ../..",
    "folders of graders": f"{GREP} /app /tests /solution /oracle /verifier /grader /logs /root /home /tmp /opt /srv /mnt",
    "variables": "env",
    "processes": "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline",
    "history": "git log --all -p",
}


def search_commands(texts: Sequence[str]) -> dict[str, str]:
    """Return the command that searches for these texts, by the place in which it does."""
    pattern = "'" + "|".join(f"{text[:-1]}[{text[-1]}]" for text in texts) + "'"
    return {
        name: f"{{ timeout {SECONDS} {command.replace('PATTERN', pattern)} 2>/dev/null; [ $? -ne 124 ] && echo searched$((40+2)); }}"
        f" | tr '\\0' '\\n' | grep -aoE {pattern[:-1]}|{DONE[:-1]}[2]' | sort -u | head -n 5"
        for name, command in COMMAND_BY_PLACE.items()
    }


def command_argument(tool: Tool) -> str | None:
    """Return the argument in which a tool takes a command of a shell; None if it takes none."""
    required = tool.parameters.get("required", ())
    runs_commands = is_shell(tool.name) and not LANGUAGES & set(words_of(tool.name))
    return required[0] if runs_commands and len(required) == 1 and required[0] in ARGUMENTS else None
