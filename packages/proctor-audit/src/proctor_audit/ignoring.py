"""Read the list of accepted findings, and mark them: `proctor-ignore.toml`.

[[ignore]]
finding = "duplicate:q3+q9"
reason = "asked twice on purpose, to see stability"
by = "ann"
until = 2027-03-01
"""

import datetime
import json
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.runtime.files import locked, write_whole
from proctor.runtime.toml_file import read_toml
from proctor.stores.blobs import clean
from proctor_audit.findings import AuditFinding, FindingIgnored, earlier_id

FILE = "proctor-ignore.toml"
MOST_BYTES = 1_000_000


class IgnoreRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An accepted finding: named by its id, or all of a check, narrowed by the ids of samples (`q*`)."""

    reason: str
    finding: str = ""
    check: str = ""
    samples: tuple[str, ...] = ()
    by: str = ""
    until: datetime.date | None = None

    @property
    def subject(self) -> str:
        """Return what the rule names."""
        return self.finding or self.check or ", ".join(self.samples)

    def matches(self, finding: AuditFinding) -> bool:
        """True if the rule is about this finding, which an earlier list may name by its earlier id."""
        if self.finding:
            return self.finding in (finding.id, earlier_id(finding))
        narrow = not self.samples or any(fnmatchcase(id, rule) for id in finding.samples for rule in self.samples)
        return (not self.check or self.check == finding.check) and narrow


class _IgnoreFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ignore: tuple[IgnoreRule, ...] = ()


def find_ignore_file(named: Path | None, task: str) -> Path | None:
    """Return the list that is named, else the one next to the task, else the one in this folder; None without one.

    Raises:
        BadInput: the file that is named does not exist.
    """
    if named is not None:
        if not named.is_file():
            raise BadInput("There is no file {path}.", path=named)
        return named
    written = Path(task.partition(":")[0] if not Path(task).exists() else task)
    folder = written if written.is_dir() else written.parent
    return next((path for path in (folder / FILE, Path(FILE)) if path.is_file()), None)


def read_ignore_file(path: Path | None) -> tuple[IgnoreRule, ...]:
    """Read the rules of a list; none without a file.

    Raises:
        BadInput: a rule without a reason, or one that names nothing; says which.
    """
    if path is None:
        return ()
    rules = read_toml(path, _IgnoreFile, most_bytes=MOST_BYTES).ignore
    for number, rule in enumerate(rules, 1):
        if not rule.reason.strip():
            raise BadInput(
                "{path}: rule {number} has no reason. Write why the finding is accepted.", path=path.name, number=number
            )
        if not rule.subject:
            raise BadInput(
                "{path}: rule {number} names neither a finding nor a check nor samples.", path=path.name, number=number
            )
    return rules


def accept_finding(path: Path, finding: AuditFinding, reason: str, by: str) -> None:
    """Add a rule for one finding to the end of a list, whose other lines stay as they are; without a file it begins one.

    Raises:
        BadInput: there is no reason, the folder does not exist, or the file is no such list.
    """
    if not reason.strip():
        raise BadInput("Write why the finding is accepted.")
    if not path.parent.is_dir() or not (path.name == FILE or path.is_file()):
        raise BadInput("There is no folder for {path} here. Accept the finding where the task is.", path=path)
    fields = {"finding": finding.id, "reason": reason.strip(), **({"by": by} if by else {})}
    rule = "".join(f"{name} = {_toml_text(text)}\n" for name, text in fields.items())
    with locked(path):
        read_ignore_file(path if path.exists() else None)
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
        before = f"{text.rstrip()}\n\n" if text.strip() else ""
        write_whole(path, f"{before}[[ignore]]\n{rule}", durable=True)


def _toml_text(text: str) -> str:
    """Return a text as TOML: JSON but for DEL, which TOML does not take as it is.

    >>> print(_toml_text('a "b"\x7f'))
    "a \\"b\\"\\u007f"
    """
    return json.dumps(clean(text), ensure_ascii=False).replace("\x7f", "\\u007f")


def mark_ignored(
    findings: Sequence[AuditFinding], rules: Sequence[IgnoreRule], today: datetime.date
) -> tuple[list[AuditFinding], list[Sentence]]:
    """Return the findings with those marked that a rule accepts, and a note for each rule that matches none, or is over.

    Raises:
        BadInput: the id in a rule is that of several findings, as one of them had it earlier.
    """
    for rule in rules:
        ids = [finding.id for finding in findings if rule.finding and rule.matches(finding)]
        if len({*ids}) > 1:
            raise BadInput(
                "The ignore list accepts {name}, which may be any of {ids}: write which one.",
                name=rule.finding,
                ids=", ".join(sorted({*ids})),
            )
    marked: list[AuditFinding] = []
    used: set[IgnoreRule] = set()
    for finding in findings:
        matching = [rule for rule in rules if rule.matches(finding)]
        used.update(matching)
        first = next((rule for rule in matching if rule.until is None or today <= rule.until), None)
        accepted = first and FindingIgnored(reason=first.reason, by=first.by, until=str(first.until or ""))
        marked.append(replace(finding, ignored=accepted))
    unused = [rule.subject for rule in rules if rule not in used]
    over = [rule for rule in rules if rule in used and rule.until is not None and today > rule.until]
    return marked, [
        *(
            say("The ignore list accepts {name}, which nothing found any more: remove that rule.", name=n)
            for n in unused
        ),
        *(
            say("The ignore list accepted {name} until {day}; it counts again.", name=rule.subject, day=str(rule.until))
            for rule in over
        ),
    ]
