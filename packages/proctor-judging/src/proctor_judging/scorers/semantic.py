"""Compare answer and target by meaning, with a packaged sentence encoder, or a server with `/v1/embeddings`.

It hardly sees negation and numbers: "is / is not the capital" 0.93, "42 / 43 dollars" 0.95. So it should never
decide alone; `combine` it with numbers, keywords or a judge. A threshold wants calibration, for each language.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.config import converted
from proctor.core.declared import scorer
from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.scorers.targets import answer_of, no_target, targets_of
from proctor_judging.matching.sentence_encoder import embedded
from proctor_judging.scorers.embeddings import Embedder, likeness

CHARACTERS = 2_000


class SemanticOptions(msgspec.Struct, frozen=True, kw_only=True):
    """With a threshold the answer is right or wrong; without, the points are the similarity itself.

    Attributes:
        embedder: `openai:MODEL` asks a server with `/v1/embeddings`; without it the packaged encoder is used.
        base_url, api_key_env: the address and the key of that server, as for a model of that kind.
    """

    threshold: float | None = None
    embedder: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None


@scorer(inline=False)  # milliseconds each: not in the event loop
def semantic(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The cosine similarity of answer and target (the best of a list), from 0 to 1.

    >>> sample = Sample.ask("a", "?", target="The weather is nice today.")
    >>> semantic(sample, Trajectory.of("It is a beautiful day.")).points > 0.5
    True
    """
    return _score(sample, trajectory, SemanticOptions())


def make(options: Mapping[str, Any]) -> Scorer:
    """Make a scorer with `SemanticOptions`.

    Raises:
        MissingExtra: the extra `semantic` is not installed.
    """
    chosen = converted(options, SemanticOptions, "semantic")
    if chosen.threshold is not None and not 0 < chosen.threshold <= 1:
        raise BadInput(
            "{what}: '{name}' is a share from 0 to 1, not {value}.",
            what="semantic",
            name="threshold",
            value=chosen.threshold,
        )
    if chosen.embedder is not None:
        return _asking(chosen, Embedder(chosen.embedder, base_url=chosen.base_url, api_key_env=chosen.api_key_env))
    if chosen.base_url is not None or chosen.api_key_env is not None:
        raise BadInput("semantic: 'base_url' and 'api_key_env' go with 'embedder', which is not set.")
    embedded([""])

    @scorer(inline=False)
    def semantic(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _score(sample, trajectory, chosen)

    return semantic


def _asking(options: SemanticOptions, embedder: Embedder) -> Scorer:
    """Return the scorer that asks a server for the vectors, and compares them as the other does."""

    @scorer(name="semantic", version=digest(options))
    async def semantic(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        texts = _texts(sample, trajectory)
        if not isinstance(texts, list):
            return texts
        first, *others = await embedder.embed(texts)
        return _compared(texts[0], [likeness(first, row) for row in others], options)

    return semantic


def _score(sample: Sample, trajectory: Trajectory, options: SemanticOptions) -> Score | Unscored:
    texts = _texts(sample, trajectory)
    if not isinstance(texts, list):
        return texts
    rows = embedded(texts)
    return _compared(texts[0], [float(row @ rows[0]) for row in rows[1:]], options)


def _texts(sample: Sample, trajectory: Trajectory) -> list[str] | Score | Unscored:
    """Return the answer and the targets, or the result where there is nothing to compare."""
    targets = [target[:CHARACTERS] for target in targets_of(sample)]
    if not targets:
        return no_target()
    answer = answer_of(trajectory, CHARACTERS)
    if not answer:
        return Score(points=0, answer=answer, reason=say("The answer is empty."))
    return [answer, *targets]


def _compared(answer: str, similarities: Sequence[float], options: SemanticOptions) -> Score:
    similarity = round(min(max(*similarities, 0.0), 1.0), 6)
    details = {"similarity": similarity, "threshold": options.threshold}
    if options.threshold is None:
        reason = say(
            "Similarity {similarity}. It hardly sees negation and numbers: do not let it decide alone.",
            similarity=f"{similarity:.2f}",
        )
        return Score(points=similarity, answer=answer, reason=reason, details=details)
    reason = say(
        "Similarity {similarity}, threshold {threshold}. It hardly sees negation and numbers: do not let it decide alone.",
        similarity=f"{similarity:.2f}",
        threshold=f"{options.threshold:g}",
    )
    return Score(points=similarity >= options.threshold, answer=answer, reason=reason, details=details)


PART = ScorerPart(scorer=semantic, make=make, options=SemanticOptions)
