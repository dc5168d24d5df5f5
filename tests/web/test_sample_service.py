"""One attempt at a sample as data: its conversation in pages, its times, and what other runs say; 10,000 steps too."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import told_trials
from told_trials import RUN

from proctor import Task, evaluate
from proctor.core.sample import File, Message, Reasoning, Sample, ToolCall, Turn
from proctor.core.trajectory import StateChange, Step, Trajectory
from proctor.core.trial import Trial
from proctor_web.samples.attachments import describe_attachment, read_attachment
from proctor_web.samples.conversation import PAGE, Conversation
from proctor_web.samples.sample import (
    SampleAttempt,
    SampleSearch,
    SampleStep,
    SampleView,
    find_in_sample,
    list_judge_requests,
    list_other_runs,
    sample_record,
    show_sample,
)
from proctor_web.samples.timing import MOST_BARS, timing
from proctor_web.workspace import NotFound, Workspace, open_workspace


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    path = told_trials.write(tmp_path_factory.mktemp("told"), steps=told_trials.LONG_STEPS)
    made = open_workspace([str(path)])
    yield made
    made.close()


def shown(workspace: Workspace, sample: str, *, attempt: int = 0, step: int = 0) -> SampleView:
    return show_sample(workspace, SampleStep(run=RUN, sample=sample, attempt=attempt, step=step))


def test_the_entries_are_in_the_order_in_which_they_happened(workspace: Workspace) -> None:
    view = shown(workspace, "shop/umbrella")
    assert [(entry.turn, entry.role, *(piece.kind for piece in entry.pieces)) for entry in view.entries] == [
        (0, "system", "text"),
        (0, "user", "text"),
        (0, "assistant", "reasoning", "call"),
        (0, "tool", "result"),
        (0, "assistant", "call"),
        (0, "tool", "result"),
        (0, "assistant", "call"),
        (0, "tool", "result"),
        (0, "assistant", "text"),
        (0, "environment", "change"),
        (1, "user", "text"),
        (1, "assistant", "call"),
        (1, "tool", "result"),
        (1, "assistant", "text"),
        (1, "environment", "change"),
    ]
    assert [entry.number for entry in view.entries if entry.opens_turn] == [0, 10]
    assert [entry.mark for entry in view.entries if entry.mark] == ["✓", "✗"]


def test_a_result_in_json_is_readable_and_its_numbers_are_as_they_came(workspace: Workspace) -> None:
    piece = shown(workspace, "shop/umbrella").entries[3].pieces[0]
    assert '"name": "Umbrella 红伞"' in piece.text
    assert '"price": 18.50' in piece.text


def test_the_parts_of_a_verdict_are_there(workspace: Workspace) -> None:
    view = shown(workspace, "shop/umbrella")
    calls, judged = view.judged
    assert (calls.finding.scorer, calls.finding.value, calls.judge) == ("trajectory", 0.5, "")
    assert (judged.judge, judged.seconds, judged.finding.marks[0].points) == ("scripted:judge", 2.1, 5)
    assert [pair.kind for pair in view.pairs] == ["matched", "extra", "matched", "wrong arguments"]
    assert view.made == "2. Two red umbrellas are now in your cart."
    assert view.error == ("extra_call", "add_to_cart")


def test_every_step_and_the_judge_have_their_place_in_time(workspace: Workspace) -> None:
    told = shown(workspace, "shop/umbrella").timing
    assert {lane: round(seconds, 2) for lane, seconds in told.spent.items()} == {
        "model": 5.9,
        "tool": 0.8,
        "judge": 2.1,
    }
    first = told.bars[0]
    assert (first.lane, round(first.start, 2), first.seconds, first.number) == ("model", 0.2, 1.4, 2)
    assert round(told.seconds, 2) == 9.6
    assert told.untimed == 0


def test_a_conversation_of_10_000_steps_is_shown_in_pages(workspace: Workspace) -> None:
    view = shown(workspace, "long", step=7_000)
    assert (view.count, view.steps, view.first, len(view.entries)) == (15_000, 10_000, 7_000, PAGE)
    assert view.entries[0].number == 7_000
    assert shown(workspace, "long", step=10**9).entries[-1].number == 14_999
    assert shown(workspace, "long", step=-5).first == 0
    assert len(view.timing.bars) <= 3 * MOST_BARS
    assert sum(bar.steps for bar in view.timing.bars) == 10_000


def test_10_000_steps_take_a_few_times_as_long_as_reading_their_record(workspace: Workspace) -> None:
    def fastest(work: object) -> float:
        times = []
        for _ in range(5):
            clock = time.thread_time()
            work()  # type: ignore[operator]
            times.append(time.thread_time() - clock)
        return min(times)

    given = SampleAttempt(run=RUN, sample="long")
    reading = fastest(lambda: sample_record(workspace, given))
    assert fastest(lambda: shown(workspace, "long", step=5_000)) < 10 * reading


def test_a_text_is_found_in_10_000_steps(workspace: Workspace) -> None:
    [match] = find_in_sample(workspace, SampleSearch(run=RUN, sample="long", text="NEEDLE"))
    assert (match.number, match.role, match.excerpt) == (14_993, "tool", "look needle")
    assert find_in_sample(workspace, SampleSearch(run=RUN, sample="long", text="  ")) == ()


def test_turns_that_nobody_would_count_take_no_time() -> None:
    steps = (Step(turn=10**12, message=Message.of("assistant", "far")),)
    changes = (StateChange(turn=3, path="$.x", after=1),)
    made = Conversation(Sample.ask("a", "?"), Trajectory(steps=steps, changes=changes))
    assert [entry.turn for entry in made.entries()] == [0, 3, 10**12]


def test_what_is_long_is_cut_and_sent_when_it_is_asked_for() -> None:
    many = tuple(ToolCall(name=f"f{number}") for number in range(150))
    steps = (Step(message=Message.of("assistant", "x" * 5_000)), Step(message=Message(role="assistant", parts=many)))
    made = Conversation(None, Trajectory(steps=steps))
    long, wide = made.entries()
    assert (long.pieces[0].is_cut, len(long.pieces[0].text), long.pieces[0].characters) == (True, 2_000, 5_000)
    assert made.text(0, 0) == "x" * 5_000
    assert (len(wide.pieces), wide.left_out) == (100, 50)
    assert made.text(0, 1) is made.text(2, 0) is made.text(-1, 0) is made.text(0, -1) is None


def test_the_file_of_a_piece_is_the_one_that_is_shown_also_after_reasoning_without_a_text() -> None:
    picture = File(media_type="image/png", url="data:image/png;base64,AA==")
    hidden = Reasoning(text="", opaque={"api": "sealed"})
    made = Conversation(None, Trajectory(steps=(Step(message=Message(role="assistant", parts=(hidden, picture))),)))
    [entry] = made.entries()
    assert [piece.kind for piece in entry.pieces] == ["file"]
    assert (made.file(0, 0), made.file(0, 1)) == (picture, None)


def test_steps_without_times_are_counted_and_not_drawn() -> None:
    steps = (
        Step(message=Message.of("assistant", "a")),
        Step(message=Message.of("assistant", "b"), seconds=2.0),
        Step(message=Message.of("assistant", "c"), seconds=1e300, started=1e300),
        Step(message=Message.of("assistant", "d"), seconds=3.0),
    )
    trial = Trial(run_id="r", sample_id="s", outcome="scored", trajectory=Trajectory(steps=steps))
    told = timing(trial, [0, 1, 2, 3], ())
    assert [(bar.start, bar.seconds) for bar in told.bars] == [(0, 2), (2, 3)]
    assert told.untimed == 2


def test_an_answer_of_another_attempt_is_shown_as_such(workspace: Workspace) -> None:
    wrong, right = (shown(workspace, "zh/北京", attempt=number) for number in (0, 1))
    assert [(one.attempt, one.outcome, one.value) for one in wrong.attempts] == [(0, "scored", 0), (1, "scored", 1)]
    assert len(shown(workspace, "broken").attempts) == 1, "the second was not run"
    assert (wrong.expected, wrong.made, right.made) == ("4.5", "6", "4.5")


def test_what_is_not_there_is_not_found(workspace: Workspace) -> None:
    for sample, attempt in (("nothing", 0), ("zh/北京", 7), ("zh/北京", -1), ("", 0), ("a\x00b", 0)):
        with pytest.raises(NotFound, match="perhaps it was not run yet"):
            shown(workspace, sample, attempt=attempt)
    with pytest.raises(NotFound):
        show_sample(workspace, SampleStep(run="other", sample="broken"))


def test_a_trial_that_failed_says_why(workspace: Workspace) -> None:
    view = shown(workspace, "broken")
    assert (view.outcome, view.judged, view.timing.bars) == ("agent_failed", (), ())
    assert view.failure is not None
    assert view.failure.kind == "raised"


def test_the_same_sample_in_other_runs_is_listed(workspace: Workspace) -> None:
    [other] = list_other_runs(workspace, SampleAttempt(run=RUN, sample="zh/北京"))
    assert (other.run, other.agent, other.value, other.attempts, other.is_same) == (
        "older",
        "openai:small",
        0.5,
        2,
        True,
    )
    [failed] = list_other_runs(workspace, SampleAttempt(run=RUN, sample="broken"))
    assert (failed.outcome, failed.value) == ("agent_failed", None)
    assert list_other_runs(workspace, SampleAttempt(run=RUN, sample="long")) == ()


def test_a_judge_that_is_another_now_is_named_with_its_replies(workspace: Workspace) -> None:
    [one] = list_judge_requests(workspace, SampleAttempt(run=RUN, sample="shop/umbrella"))
    assert one.scorer == "rubric:answer-quality"
    assert one.replies == ('{"comment": "The count is wrong.", "correctness": 3}',)
    assert one.why_not is not None
    assert one.prompts == ()


def test_the_request_to_a_judge_is_made_again_if_the_judge_is_the_same(tmp_path: Path) -> None:
    judge = tmp_path / "judge.jsonl"
    points = {"correctness": 4, "relevance": 5, "completeness": 4, "clarity": 5}
    judge.write_text(json.dumps({"comment": "Good.", **points}) + "\n")
    run = evaluate(
        Task(
            name="t",
            samples=[Sample.ask("fr", "Capital of France?", target="Paris")],
            scorers=["rubric:answer-quality"],
        ),
        agent=lambda _: "It is Paris.",
        judge=f"scripted:{judge}",
        store=str(tmp_path / "runs.db"),
        run_id="judged",
    )
    workspace = open_workspace([str(tmp_path / "runs.db")])
    [one] = list_judge_requests(workspace, SampleAttempt(run=run.id, sample="fr"))
    assert one.why_not is None
    [prompt] = one.prompts
    assert prompt.judge == f"scripted:{judge}"
    assert [role for role, _ in prompt.messages] == ["system", "user"]
    assert "It is Paris." in prompt.messages[1][1]
    assert "Good." in one.replies[0]
    workspace.close()


def test_no_code_of_a_run_is_run_to_show_its_judge(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from proctor import Score\nfrom proctor.core.judge import JudgeInfo\n"
        "from pathlib import Path\nPath(__file__ + '.ran').touch()\n"
        "def score(sample, trajectory):\n    return Score(points=1)\n"
        "score.judge = JudgeInfo(model='mine')\n"
    )
    evaluate(
        Task(name="t", samples=[Sample.ask("fr", "?")], scorers=[f"{mine}:score"]),
        agent=lambda _: "Paris",
        store=str(tmp_path / "runs.db"),
        run_id="own",
    )
    ran = Path(f"{mine}.ran")
    ran.unlink()
    workspace = open_workspace([str(tmp_path / "runs.db")])
    [one] = list_judge_requests(workspace, SampleAttempt(run="own", sample="fr"))
    assert "proctor runs explain own fr --attempt 1" in str(one.why_not)
    assert not ran.exists()
    workspace.close()


def test_only_pictures_and_sound_are_shown_and_only_what_may_be_read_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "in.png").write_bytes(told_trials.PICTURE)
    (tmp_path / "out.png").write_bytes(told_trials.PICTURE)
    (tmp_path / "cache" / "link.png").symlink_to(tmp_path / "out.png")

    def picture(path: str) -> str | None:
        known = describe_attachment(File(name="a", path=path))
        assert (known is None) == (read_attachment(File(name="a", path=path)) is None)
        return None if known is None else known.shown

    assert picture(str(tmp_path / "cache" / "in.png")) == "image/png"
    outside = [
        tmp_path / "out.png",
        tmp_path / "cache" / "link.png",
        tmp_path / "cache/../out.png",
        "/etc/passwd",
        "/",
        "a\0b",
    ]
    assert [picture(str(path)) for path in outside] == [None] * len(outside)
    svg = File(name="a.svg", media_type="image/png", data=b"<svg><script>alert(1)</script></svg>")
    known = describe_attachment(svg)
    assert known is not None
    assert known.shown == ""


def test_a_turn_of_expected_calls_in_words_shows_them() -> None:
    turns = tuple(Turn(messages=(Message.of("user", "go"),), reference=["ls()", "cd('a')"]) for _ in range(2))
    made = Conversation(Sample(id="a", turns=turns), Trajectory())
    assert [(entry.role, entry.pieces[0].text) for entry in made.entries()][1] == ("expected", "ls()\ncd('a')")


def test_each_entry_of_a_step_has_its_number_and_what_of_the_limits_was_used(workspace: Workspace) -> None:
    view = shown(workspace, "shop/umbrella")
    numbers = [entry.step for entry in view.entries if entry.step]
    assert numbers == [*range(1, len(numbers) + 1)]
    assert next(entry.step for entry in view.entries if entry.role == "environment") == 0
    assert [step.number for step in view.costs.steps] == numbers
    assert str(view.costs.notes[0]).startswith("This run holds the cost of the whole trial only")
