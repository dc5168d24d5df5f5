"""Find options that occur twice."""

from collections.abc import Iterator, Mapping

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import fold, options_of, targets_of, text_of_target


@check(group="A4", cls="proved", title=say("The text of the right option occurs twice."))
def duplicate_options(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose right option has a twin with another letter; case counts, as in mg and Mg."""
    for sample in audit.samples:
        options = options_of(sample)
        texts = {letter: fold(text) for letter, text in options.items()}
        right = {letter for target in targets_of(sample) for letter in _letters_of(text_of_target(target), texts)}
        twins = sorted(
            letter for letter in texts if letter not in right and texts[letter] in {texts[each] for each in right}
        )
        if twins:
            yield audit.found(
                say(
                    "the right option {text} is there again as {letters}",
                    text=repr(options[min(right)]),
                    letters=", ".join(twins),
                ),
                sample,
                witness={"options": options, "target": sample.target},
            )


def _letters_of(target: str, texts: Mapping[str, str]) -> set[str]:
    """Return the options that a target names by their letters, or the first of its text."""
    letters = {character for character in target if character.isalnum()}
    if letters <= texts.keys():
        return letters
    return {next((letter for letter, text in texts.items() if text == fold(target)), "")} - {""}
