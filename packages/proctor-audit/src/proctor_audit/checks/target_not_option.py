"""Find keys that are no option."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import fold, is_empty_target, options_of, targets_of, text_of_target


@check(group="A4", cls="proved", title=say("The key is none of the options."))
def target_not_option(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples with options of which the target is neither letters nor a text; likely where a scorer of the user may read it otherwise."""
    for sample in audit.samples:
        options = options_of(sample)
        if not options or is_empty_target(sample.target):
            continue
        texts = {fold(text) for text in options.values()}
        for target in map(text_of_target, targets_of(sample)):
            letters = {character for character in target if character.isalnum()}
            if not letters <= options.keys() and fold(target) not in texts:
                yield audit.found(
                    say(
                        "the target {target} is none of the options {letters}",
                        target=repr(target),
                        letters=", ".join(options),
                    ),
                    sample,
                    cls=None if audit.request is None else "likely",
                    witness={"options": options, "target": sample.target},
                )
                break
