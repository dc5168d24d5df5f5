"""Read the texts that samples expect as responses."""

from collections.abc import Iterator, Mapping

from proctor.core.sample import Sample
from proctor_audit.wording import targets_of


def responses_of(sample: Sample) -> Iterator[tuple[str, str]]:
    """Yield what is asked in each turn and the text that is expected for it."""
    is_said = False
    for turn in sample.turns:
        asked = " ".join(message.text for message in turn.messages if message.role == "user")
        response = turn.reference.get("response") if isinstance(turn.reference, Mapping) else turn.reference
        if isinstance(response, str):
            is_said = True
            yield asked, response
    if not is_said:
        for target in targets_of(sample):
            if isinstance(target, str):
                yield " ".join(message.text for turn in sample.turns for message in turn.messages), target
