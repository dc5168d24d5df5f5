"""A right answer that the scorer did not read."""

import re
from collections.abc import Iterator, Sequence

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.view import InspectedTrial, TrialEvent
from proctor_audit.inspector.wording import span_near
from proctor_judging.matching.option_letters import read_letters
from proctor_judging.matching.replies import best_match
from proctor_judging.matching.verdict import AnswerOptions

LONGEST = 20_000


@check(group="I9", cls="likely", title=say("A right answer that the scorer did not read."), invalidates="failure")
def format_failure(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """Judged wrong; the extractor found nothing or another text than the target, and `answer` accepts the reply for the target.

    Not: wrong answers; several candidates in one reply; an extractor that read the target itself.
    """
    reply = next((step for step in reversed(trial.steps) if step.author == "agent" and step.text.strip()), None)
    if trial.score != 0 or not trial.targets or not trial.has_extracted or reply is None or len(reply.text) > LONGEST:
        return
    if trial.extracted is not None and trial.extracted.strip() in trial.targets:
        return
    question = next((step.text for step in reversed(trial.steps[: reply.index]) if step.author == "user"), "")
    if not _accepts(reply.text, trial.targets, question) or _has_rivals(reply.text):
        return
    yield TrialEvent(
        steps=(reply.index,),
        span=reply.text.strip() if len(reply.text) < 200 else span_near(reply.text, trial.targets[0]),
        sentence=say(
            "Judged wrong, though the reply holds the target as its answer; the scorer read {read}.",
            read=trial.extracted or "-",
        ),
    )


def _accepts(reply: str, targets: Sequence[str], question: str) -> bool:
    """True if a reply gives a target as its answer, or chooses the option whose letter one is."""
    _, verdict = best_match(reply, list(targets), AnswerOptions(), question)
    if verdict.undecided or verdict.readings:
        return False
    letters = {target.strip() for target in targets if re.fullmatch(r"\s*[A-H]\s*", target)}
    return verdict.right or (bool(letters) and read_letters(reply, question=question) in letters)


def _has_rivals(text: str) -> bool:
    """True if a reply marks several answers of its own."""
    marked = re.findall(
        r"\\boxed\{([^{}]*)\}|\*\*([^*\n]+)\*\*|(?:answer|答案)(?: is|是|为|[:：])\s*([^\n.。]+)", text, re.IGNORECASE
    )
    values = {next(filter(None, groups), "").strip(" .*").lower() for groups in marked}
    return len(values) > 2
