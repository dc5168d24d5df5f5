"""`HumanVerificationUI`: problem by problem, on the review of Proctor; its page opens with `launch`."""

from pathlib import Path

from proctor.core.errors import BadInput, needs
from proctor.core.sentence import Sentence, say
from proctor.i18n import language, speak
from proctor_judging.review.items import ReviewItem
from proctor_judging.review.labels import DIMENSIONS
from proctor_judging.review.queue import Review

Shown = tuple[str, str, str, str, str, str]


class HumanVerificationUI:
    """Shows one problem at a time and keeps the reviewer's verdict, next to the data and never in it.

    Attributes:
        current_index: the place of the problem that is shown.
    """

    def __init__(self, data_path: str | Path) -> None:
        self.data_path = str(data_path)
        self.current_index = 0
        self._review = Review(data_path)

    @property
    def problems(self) -> list[ReviewItem]:
        return self._review.items

    @property
    def verifications(self) -> dict[str, object]:
        """The labels so far, by id: problem_id, scores, total_score, status, comments, verified_at."""
        return {
            id: {
                "problem_id": record.problem_id,
                "scores": dict(record.scores),
                "total_score": record.verdict.total,
                "status": record.status,
                "comments": record.comments,
                "verified_at": record.verified_at,
            }
            for id, record in self._review.records().items()
        }

    def get_current_problem(self) -> Shown:
        """Return the index, problem, answer, solution and topic, and the comment on it."""
        item = self.problems[self.current_index]
        said = self._review.own(item, self._reviewer)
        return (
            _speak(say("Problem {number} of {total}", number=self.current_index + 1, total=len(self.problems))),
            item.problem,
            _speak(say("Answer: {answer}", answer=item.answer or "–")),
            item.solution,
            _speak(say("Topic: {topic}", topic=item.topic or "–")),
            (said.comments or "") if said is not None else "",
        )

    def verify_problem(
        self,
        correctness: float,
        clarity: float,
        difficulty_match: float,
        completeness: float,
        status: str,
        comments: str = "",
    ) -> str:
        """Keep scores from 1 to 5 and a status (approved, rejected, needs_revision); on disk when this returns.

        Raises:
            BadInput: a score out of range, or another status.
        """
        scores = dict(zip(DIMENSIONS, (correctness, clarity, difficulty_match, completeness), strict=True))
        item = self.problems[self.current_index]
        entry = self._review.label(item.id, self._reviewer, scores, status, comments)
        return _speak(say("✅ {id} is verified, mean {mean} of 5.", id=item.id, mean=f"{entry.total:.2f}"))

    def next_problem(self) -> Shown:
        """Return the next one; the last one stays."""
        self.current_index = min(self.current_index + 1, len(self.problems) - 1)
        return self.get_current_problem()

    def prev_problem(self) -> Shown:
        """Return the one before; the first one stays."""
        self.current_index = max(self.current_index - 1, 0)
        return self.get_current_problem()

    def get_statistics(self) -> str:
        """Return the total, the number verified, the number of each status, and the mean score."""
        progress = self._review.progress()
        lines = [
            say("Problems: {total}, verified: {done}", total=progress.total, done=progress.done),
            *(say("{status}: {count}", status=status, count=count) for status, count in progress.by_status.items()),
            say("Mean score: {mean} of 5", mean="–" if progress.mean is None else f"{progress.mean:.2f}"),
        ]
        return "\n".join(_speak(line) for line in lines)

    def launch(self, share: bool = False) -> None:
        """Open the page on 127.0.0.1:7860, or the next free port, and serve it until Ctrl-C.

        Raises:
            BadInput: the page is to be shared with the network, which it never is.
            MissingExtra: the extra `web` is not installed.
        """
        if share:
            raise BadInput("The page is served on this machine only; share=True is not offered.")
        with needs("web", "HumanVerificationUI.launch"):
            from proctor_web.app import app
            from proctor_web.auth import Access
            from proctor_web.reviewing.item_pages import ReviewPages
            from proctor_web.serving import PORT, listen, serve
            from proctor_web.users.ledger import Person
        self._review.check_writable()
        on = listen(PORT)
        port: int = on.getsockname()[1]
        access = Access(port)
        print(f"http://127.0.0.1:{port}{access.link(Person(name=self._reviewer))}")
        serve(app(ReviewPages(self._review, access).routes(), access, language()), on)

    @property
    def _reviewer(self) -> str:
        return self._review.reviewers[0]


def _speak(sentence: Sentence) -> str:
    return speak(sentence, language())
