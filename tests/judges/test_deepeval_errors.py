"""What DeepEval gives up on is told, and not the wrapper of its retries."""

from concurrent.futures import Future

from proctor_judging.judges.deepeval import _inner


class RetryError(Exception):
    """As tenacity raises it: it holds the last attempt, which is a future."""

    def __init__(self, attempt: "Future[object]") -> None:
        super().__init__(attempt)
        self.last_attempt = attempt


def test_the_error_of_the_last_attempt_is_told() -> None:
    cause = ConnectionError("no way to 127.0.0.1:9")
    attempt: Future[object] = Future()
    attempt.set_exception(cause)
    assert _inner(RetryError(attempt)) is cause
    assert _inner(cause) is cause
