"""Decide about calls that wait for approval: by the policy of the run, or by what its simulated user says."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from proctor.chat.message_text import as_json, is_chinese, text_of
from proctor.core.errors import UserFailed
from proctor.core.sample import Message, Sample, ToolCall
from proctor.core.sentence import Sentence, clip, say
from proctor.core.trajectory import ASKING, Approval, Step, Trajectory

ASK, ALL, NONE = "ask", "all", "none"
CALL_CHARACTERS = 2_000
QUESTIONS = {
    "consent": {
        "en": "I need your approval for this call: {call}{hint}\nMay I carry it out? Please answer yes or no.",
        "zh": "我需要你批准这次调用：{call}{hint}\n可以执行吗？请回答“可以”或“不可以”。",
    },
    "words": {
        "en": "I need you for this call: {call}{hint}\nWhat is its result?",
        "zh": "这次调用需要你：{call}{hint}\n结果是什么？",
    },
}
_NOT_A_NO = re.compile(
    r"\b(?:no|not an?) (?:problem|issue|objections?|worries)\b|没问题|没有问题|没意见", re.IGNORECASE
)
_NO = (
    r"\b(?:no|nope|nah|not?|never|don['’]?t|do not|deny|denied|decline[sd]?|reject(?:ed)?|refuse[sd]?|forbid(?:den)?"
    r"|disapprove[sd]?|stop|cancel|disallow(?:ed)?)\b|不|别|拒绝|否|取消|禁止|停"
)
_YES = (
    r"\b(?:yes|yeah|yep|yup|sure|ok|okay|approve[sd]?|allow(?:ed)?|accept(?:ed)?|agreed?|confirm(?:ed)?|granted"
    r"|go ahead|do (?:it|so|that)|please do|proceed|of course|certainly|absolutely|fine|true)\b"
    r"|可以|好的|好啊|同意|批准|允许|确认|没问题|当然|行吧|行，|^(?:好|行|是|对|嗯)"
)
_FIRST = re.compile(rf"^\W*(?:(?P<no>{_NO})|(?P<yes>{_YES}))", re.IGNORECASE)
_ANY_NO, _ANY_YES = re.compile(_NO, re.IGNORECASE), re.compile(_YES, re.IGNORECASE)


def decide_by_policy(policy: str | None, waiting: Approval) -> Approval | None:
    """Return the decision of a policy: `all`, `none`, or the names of the tools that are approved.

    None for `ask`, and where a result is missing that only words can give.
    """
    if policy is None or policy == ASK:
        return None
    approved = policy == ALL or (policy != NONE and waiting.call.name in names_in(policy))
    return None if approved and waiting.awaits == "words" else replace(waiting, approved=approved, by="policy")


def names_in(policy: str) -> list[str]:
    """Return the names of the tools that a policy approves.

    >>> names_in("search, read_file")
    ['search', 'read_file']
    """
    return [name.strip() for name in policy.split(",") if name.strip()]


def decide_by_user(waiting: Approval, words: str) -> Approval:
    """Return the decision in a user's words, which may be the answer itself.

    Raises:
        UserFailed: they say neither yes nor no.
    """
    approved = read_consent(words) if waiting.awaits == "consent" else True
    if approved is None:
        raise UserFailed(
            "The simulated user neither approved nor denied {call}: {words}",
            kind="unclear",
            call=text_of_call(waiting.call),
            words=clip(words, 120),
        )
    return replace(waiting, approved=approved, by="user", words=words)


def read_consent(words: str) -> bool | None:
    """Return whether a reply approves, by its first word or else by the only side that it names; None if it does not say.

    >>> [read_consent(words) for words in ("Yes, please.", "No problem, go ahead", "I would not.", "不可以", "可以", "Which file?")]
    [True, True, False, False, True, None]
    """
    words = _NOT_A_NO.sub("yes ", words).strip()
    first = _FIRST.match(words)
    if first is not None:
        return first["no"] is None
    is_no = _ANY_NO.search(words) is not None
    is_yes = _ANY_YES.search(words) is not None
    return None if is_no == is_yes else is_yes


def as_conversation(sample: Sample, trajectory: Trajectory, waiting: Approval | None = None) -> Trajectory:
    """Return the trajectory as the simulated user sees it: with what it was asked to approve, and what it said.

    Args:
        waiting: what it is asked now.
    """
    asked = [
        *(approval for approval in trajectory.approvals if approval.by == "user"),
        *([waiting] if waiting is not None else []),
    ]
    if not asked:
        return trajectory
    messages = [message for turn in sample.turns for message in turn.messages]
    messages += [step.message for step in trajectory.steps if step.message.role == "user"]
    lang = "zh" if is_chinese(text_of(messages)) else "en"
    steps: list[Step] = []
    done = 0
    for one in asked:
        steps += trajectory.steps[done : one.step]
        done = one.step
        steps.append(Step(message=Message.of("assistant", _question(one, lang)), author=ASKING, turn=one.turn))
        if one is not waiting:
            steps.append(Step(message=Message.of("user", one.words), author="user", turn=one.turn))
    return replace(trajectory, steps=(*steps, *trajectory.steps[done:]))


def describe_waiting(approvals: Sequence[Approval]) -> Sentence:
    """Say what waits for approval, and how to choose who decides."""
    left = [approval for approval in approvals if approval.approved is None]
    calls = ", ".join(text_of_call(one.call, 200) for one in left)
    if all(one.awaits == "words" for one in left):
        return say(
            "The agent waits for the result of {calls}, which comes from outside. A simulated user can give it (--user), or --approve none denies it.",
            calls=calls,
        )
    return say(
        "The agent waits for approval of {calls}, and nobody decided. Choose who does with --approve: ask (the simulated user), all, none, or the names of the tools that are approved.",
        calls=calls,
    )


def text_of_call(call: ToolCall, characters: int = CALL_CHARACTERS) -> str:
    """Return a call as code.

    >>> text_of_call(ToolCall(name="delete", arguments={"path": "x"}))
    'delete(path="x")'
    """
    inside = call.raw or ", ".join(f"{name}={as_json(value)}" for name, value in call.arguments.items())
    return clip(f"{call.name}({inside})", characters)


def _question(one: Approval, lang: str) -> str:
    if one.awaits == "turn":
        return one.hint
    hint = f"\n{one.hint}" if one.hint else ""
    return QUESTIONS[one.awaits][lang].format(call=text_of_call(one.call), hint=hint)
