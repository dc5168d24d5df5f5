"""What findings do to a score, and how frequent they are."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.check import AuditCheck
from proctor_audit.inspector.inspecting import inspect
from proctor_audit.inspector.rule import TrialEvent
from proctor_audit.inspector.trial_scores import flags_of, prevalence_of
from proctor_audit.inspector.view import InspectedTrial, TrialStep


def trial(id: str, text: str = "") -> InspectedTrial:
    return InspectedTrial(id=id, steps=(TrialStep(index=0, author="agent", text=text),), calls=())


def find_word(trial: InspectedTrial) -> Iterator[TrialEvent]:
    if trial.steps[0].text == "broken":
        raise ValueError("no word")
    if trial.steps[0].text == "word":
        yield TrialEvent(steps=(0,), span="word", sentence=say("A word."))


CHECK = AuditCheck(
    name="word",
    group="I1",
    cls="likely",
    needs=("trajectories",),
    cost="none",
    title=say("A word."),
    find=find_word,
    invalidates="failure",
)


def test_a_trial_in_which_a_check_raised_counts_neither_way() -> None:
    texts = ["word", "", "broken", "broken"]
    done = inspect([(trial(f"t{number}", text), None) for number, text in enumerate(texts)], [CHECK])
    share = prevalence_of(done.lines, ["word"], {})[0].share
    assert (share.value, share.scored) == (0.5, 2)
    assert flags_of(done.lines, "word") == {"t0": True, "t1": False}
    assert [str(each.reason) for each in done.not_checked] == ["the check raised ValueError: no word; trials: 2"]
