"""Limit how many requests a run may send: each is counted before it leaves, so that the limit is never exceeded."""

from proctor.core.errors import BudgetSpent


class Allowance:
    """Counts requests over all endpoints of a run.

    Args:
        most: how many may be sent; None is no bound.

    Attributes:
        sent: those that left, without those that never reached a server.
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self.sent = 0

    def take(self) -> None:
        """Count a request that is about to leave.

        Raises:
            BudgetSpent: no request is left.
        """
        if self.most is not None and self.sent >= self.most:
            raise BudgetSpent("The budget of the run does not hold another request.")
        self.sent += 1

    def give_back(self) -> None:
        """Count one less: there was no connection, so nobody bills it."""
        self.sent -= 1

    def reserve(self) -> None:
        """Count a request for which no slot at an endpoint is asked, as those of a batch.

        Raises:
            BudgetSpent: no request is left.
        """
        self.take()

    def release(self) -> None:
        """Count one of those less: it was not sent, or is asked for again."""
        self.give_back()
