"""Check trials that failed: what stops the first ones, or many in a row, would stop all others, so the run ends before it costs more."""

from proctor.config import settings
from proctor.core.declared import AgentInfo, declared
from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor.core.trial import Trial
from proctor.engine.job import Job
from proctor.engine.scoring import reason_with_line
from proctor.engine.status import RunStatus

FIRST = 10  # trials of a new run; where the agent fails in each of them it would fail in all
BROKEN = {  # parts of the task without which no trial has a result, by the outcome
    "environment_failed": say("The environment"),
    "user_failed": say("The simulated user"),
}
OF_OTHERS = ("machine", "internal", "worker_killed", "no_start")  # kinds of failure that say nothing about the part
NO_WAY = ("connect", "dns", "tls")  # kinds of failure of the first sample that would meet all others
NOT_ACCEPTED = ("http_400", "http_422")  # of the first sample; others may be accepted, but a parameter never is
CANNOT_GO_ON = (*NO_WAY, "timeout", "not_http", "not_json")  # the same where the endpoint has never been of use


class FirstTrials:
    """Checks each trial that is on disk. It is made when the run begins; a resumed run is trusted more."""

    def __init__(self, job: Job, status: RunStatus) -> None:
        self._job = job
        self._status = status
        self._is_recorded = job.replies is not None
        self._is_usage_checked = False
        self._is_new = not status.done and not self._is_recorded
        self._left_out = 0  # of the last trials that ended alike, those that failed for something else
        self._fatal = () if self._is_recorded else NO_WAY if status.done else CANNOT_GO_ON

    def check(self, trial: Trial, *, is_probe: bool) -> None:
        """Stop the run where the agent or its endpoint cannot work, and warn where what it uses is not counted.

        Args:
            is_probe: the trial ran alone.

        Raises:
            BadInput: says what failed.
        """
        if self._is_new and trial.failure is not None and self._status.here >= FIRST:
            self._check_agent(trial)
        self._check_part(trial)
        if is_probe:
            self._check_endpoint(trial)
        if not self._is_recorded and not self._is_usage_checked and trial.outcome == "scored":
            self._is_usage_checked = True
            self._warn_of_uncounted(trial)

    def _check_agent(self, trial: Trial) -> None:
        outcomes = self._status.outcomes
        if trial.failure is not None and outcomes["agent_failed"] + outcomes["undecided"] == self._status.here:
            raise BadInput(
                "The agent failed in each of the first {count} trials, so the rest was not run. {reason}",
                count=self._status.here,
                reason=reason_with_line(trial.failure),
            )

    def _check_part(self, trial: Trial) -> None:
        """Stop a run, a resumed one too, whose environment or simulated user is broken and not only in single samples."""
        status, task = self._status, self._job.task
        part = BROKEN.get(trial.outcome)
        if status.in_a_row == 1:
            self._left_out = 0
        if part is None or trial.failure is None:
            return
        if trial.failure.kind in OF_OTHERS:
            self._left_out += 1
            return
        count = status.in_a_row - self._left_out
        is_played = task.environment is not None if trial.outcome == "environment_failed" else task.user is not None
        most = FIRST if status.here == status.in_a_row else max(FIRST, 2 * status.in_flight)
        if is_played and count >= most:
            raise BadInput(
                "{part} failed in {count} trials in a row, so the rest was not run. Mend it, then continue with --retry-failed. {reason}",
                part=part,
                count=count,
                reason=trial.failure.reason,
            )

    def _check_endpoint(self, trial: Trial) -> None:
        if trial.failure is None:
            return
        if trial.failure.kind in NOT_ACCEPTED:
            self._status.warn(
                say(
                    "The first sample's request was not accepted. If that is because of an option of the agent, stop here (Ctrl-C) and change it: {reason}",
                    reason=trial.failure.reason,
                )
            )
        if trial.outcome == "provider_failed" and trial.failure.kind in self._fatal:
            raise BadInput(
                "The first sample could not be run, so no other was tried: {reason}", reason=trial.failure.reason
            )

    def _warn_of_uncounted(self, trial: Trial) -> None:
        """Warn where a bound will never be reached because the agent does not report what it uses."""
        if "cache_hits" in trial.notes:
            return
        about = declared(AgentInfo, self._job.agent)
        if about.reports_cost:
            return
        if settings().price_table is not None and self._job.price is None and trial.usage.cost is None:
            self._status.warn(
                say(
                    "The price of {model} is not known: {table} has none for it at this address. Its cost is not counted; it may be put into [prices] of proctor.toml.",
                    model=str(about.model or self._job.agent.name),
                    table=str(settings().price_table),
                )
            )
        if kinds := self._status.tracker.uncounted_bounds(trial.usage):
            self._status.warn(
                say(
                    "The agent does not tell what it uses, so the budget ({kinds}) counts only what judges use. Set a budget of minutes too.",
                    kinds=", ".join(kinds),
                )
            )
