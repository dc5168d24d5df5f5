"""Score calls by making them with the official tools, in a worker, and responses by ROUGE-L.

Source: DAMO-ConvAI, commit 483554eae102, `api-bank/evaluator_by_json.py`, `api-bank/lv3_evaluator.py`; package `rouge` 1.0.1.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from proctor.core.declared import scorer
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Trajectory
from proctor.isolation import Workers
from proctor.models.named import OpenedModels
from proctor_benchmarks.apibank.calls import read_call
from proctor_benchmarks.apibank.dataset import COMMIT, PLANNED, SEARCHER, TOOLS
from proctor_judging.matching.rouge_packages import english_sentences, sentences_l

VERSION = f"{COMMIT} / 1"
PROGRAM = Path(__file__).with_name("worker_program.py")
CALL = "call"  # the name of the scorer
NO_CALL, OTHER_NAME, CORRECT, MISMATCH = "NO_API_CALL", "API_NAME_MISMATCH", "CORRECT", "MISMATCH"

Search = Literal["recorded", "words"]


class CallResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a call: its official status, `raised` by the official code, and what was `missing` to make it."""

    status: str
    result: str = ""
    raised: str | None = None
    missing: str | None = None


def make_workers(root: Path) -> Workers:
    """Return worker processes with the official tools."""
    return Workers(PROGRAM, paths=[root], variables={"APIBANK_FOLDER": str(root)})


class Calls:
    """The official verdict on a reply that should be a call.

    Args:
        workers: those of `make_workers`.
        searches: the known results of the tool search by their keywords; None to search by words.
    """

    def __init__(self, workers: Workers, searches: Mapping[str, object] | None) -> None:
        self.workers = workers
        self._searches = searches

    async def judge(self, text: str, level: str, api: str, truth: Mapping[str, object]) -> CallResult:
        """Return the verdict; most of the work is the worker's.

        Raises:
            EnvironmentFailed: the worker died, hung or outgrew its limits.
        """
        call = read_call(text)
        if call is None:
            return CallResult(status=NO_CALL)
        if level != PLANNED and call.name != api:
            return CallResult(status=OTHER_NAME)
        searches = self._known(call.params.get("keywords", "")) if call.name == SEARCHER else None
        given = {"tools": TOOLS[level], "name": call.name, "params": call.params, "truth": truth, "wanted": api}
        return msgspec.convert(await self.workers.run("run", searches=searches, **given), CallResult)

    def _known(self, keywords: str) -> list[object] | None:
        if self._searches is None:
            return None
        return [self._searches[keywords]] if keywords in self._searches else []


class CallScorer(OpenedModels):
    """`call`: 1 when the call is right by the tool's own check."""

    name = CALL
    version = VERSION
    is_async = True

    def __init__(self, calls: Calls) -> None:
        super().__init__([calls.workers])
        self._calls = calls

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        """Score a reply; a call that cannot be made here has no score."""
        facts = sample.meta.get("apibank", {})
        if "result" not in facts:
            return Unscored(why="not_applicable", reason=say("The sample asks for no call."))
        reply = trajectory.answer or ""
        result = await self._calls.judge(reply, facts["level"], facts["api"], facts["result"])
        if result.missing:
            return Unscored(
                why="scorer_failed", reason=_MISSING[result.missing], details={"kind": f"no_{result.missing}"}
            )
        if result.status == CORRECT:
            return Score(points=1, answer=reply, reason=say("The call is right, by the check of the tool."))
        details = {"error_class": result.status or "OTHER", **({"raised": result.raised} if result.raised else {})}
        return Score(points=0, answer=reply, reason=_reason(result), details=details)


_MISSING: Mapping[str, Sentence] = {
    "network": say("The tool needs the network, which it does not have here."),
    "embeddings": say("The tool search needs a model of sentence embeddings, and no result is recorded for these keywords (--set search=words searches by words)."),
    "tokenizer": say("The tool needs the data of a tokenizer, which is not here."),
}  # fmt: skip


def _reason(found: CallResult) -> Sentence:
    if found.status == NO_CALL:
        return say("The reply has no call like [Name(key='value')] in one line.")
    if found.status == OTHER_NAME and not found.result:
        return say("The call is of another tool.")
    if found.status == "RAISES":
        return say("The official code ends here: {error}", error=found.raised or "")
    if found.raised:
        return say("The call could not be made: {error}", error=found.raised)
    return say("The call is wrong, by the check of the tool. It returned {result}", result=found.result)


@scorer(name="rouge_l", version=VERSION)
def rouge_l(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Return ROUGE-L (F) of the reply and the recorded one."""
    facts = sample.meta.get("apibank", {})
    if "file" not in facts or "result" in facts:
        return Unscored(why="not_applicable", reason=say("The sample asks for no response."))
    reply = trajectory.answer or ""
    find = planned_score if facts["level"] == PLANNED else response_score
    value = find(str(sample.target), reply)
    if value is None:
        return Score(points=0, answer=reply, reason=say("ROUGE is not defined for a reply without a sentence; the official code ends here."), details={"error_class": "RAISES"})  # fmt: skip
    return Score(points=value, answer=reply, reason=say("ROUGE-L with the recorded reply."), details={"passed": value >= PASSES})  # fmt: skip


PASSES = 0.2  # below, the official code writes a line into its log


def rouge(reference: str, reply: str) -> float | None:
    """Return ROUGE-L as the package computes it; None where it raises."""
    ours, theirs = english_sentences(reply), english_sentences(reference)
    return sentences_l(ours, theirs).f if ours and theirs else None


def response_score(reference: str, reply: str) -> float | None:
    """Return the score of levels 1 and 2: four digits."""
    value = rouge(reference, reply) if reply else 0.0
    return value if value is None else round(value, 4)


def planned_score(reference: str, reply: str) -> float | None:
    """Return the score of level 3, without the names of the speakers."""
    reply = reply.replace("User:", "").replace("AI:", "").strip()
    return rouge(reference, reply) if reply else 0.0
