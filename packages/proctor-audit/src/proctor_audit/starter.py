"""The files that `proctor init check` writes: a check, and tests that it keeps what every check promises."""

from pathlib import Path

from proctor.cli.templates import write_files

CHECK = '''"""A check of your own: questions that are too short to be understood."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding

FEWEST = 10  # letters


@check(group="mine", cls="likely", title=say("A question is too short to be understood."))
def short_question(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples with a question of few letters. Not flagged: a short question with a file or options."""
    for sample in audit.samples:
        if len(sample.question) < FEWEST and not sample.known.options:
            yield audit.found(say("the question has {count} letters", count=len(sample.question)), sample)
'''
TEST = '''"""The check finds what it is for, flags nothing else, and keeps what every check promises."""

from pathlib import Path

from proctor_audit.testing import CheckContract


class TestShortQuestion(CheckContract):
    check = f"{Path(__file__).with_name('check.py')}:short_question"
    flawed = [{"id": "q1", "question": "Why?", "answer": "42"}]
    sound = [{"id": "q1", "question": "How much is 6 * 7?", "answer": "42"}]
'''


def write_check(folder: Path) -> None:
    """Write a check and its tests to a folder.

    Raises:
        BadInput: a file is there.
    """
    write_files(
        folder,
        {"check.py": CHECK, "test_check.py": TEST},
        "{where}proctor audit-task FILE --check ./check.py:short_question",
    )
