"""Names and numbers as people read them, in the language of the reader."""

import time
from collections.abc import Callable, Sequence

from proctor.core.run import Estimate
from proctor.core.sentence import Sentence
from proctor.i18n import speak

_OUTCOMES = {
    "scored": "scored",
    "agent_failed": "agent failed (counts as 0)",
    "provider_failed": "provider failed (not counted)",
    "environment_failed": "tool environment failed (not counted)",
    "user_failed": "simulated user failed (not counted)",
    "awaiting_approval": "waits for approval (not counted)",
    "undecided": "undecided who failed (not counted)",
    "skipped": "skipped (not counted)",
    "cancelled": "cancelled (not counted)",
    "not_run": "not run yet",
}
_ERRORS = {
    "unparsable": "cannot be read as calls",
    "no_call": "no call where one is right",
    "call_not_wanted": "call where none is right",
    "wrong_type": "wrong type of a value",
    "unknown_param": "unknown parameter",
    "crash": "breaks the official scorer",
    "missing_call": "call is missing",
    "extra_call": "call too many",
    "wrong_function": "wrong function",
    "wrong_param_name": "wrong parameter name",
    "wrong_param_value": "wrong parameter value",
    "missing_param": "parameter is missing",
    "wrong_order": "wrong order",
    "unnecessary_call": "call where none is right",
    "format_error": "not in the required form",
    "wrong_answer": "wrong answer",
    "no_answer": "no last message",
    "no_result": "no conversation",
    "stopped_early": "ended too early",
    "wrong_state": "wrong state",
    "missing_result": "a result was never seen",
    "agent_failed": "agent failed",
    "below_pass": "below the pass mark",
    "lost": "lost a comparison",
    "tie": "tied",
    "": "no class given",
}
_STOPS = {
    "done": "finished",
    "length": "cut by the length limit",
    "filtered": "filtered by the provider",
    "refused": "refused by the model",
    "empty": "empty",
    "step_limit": "step limit",
    "time_limit": "time limit",
    "task_limit": "limit of the task",
    "waiting": "waits for approval",
}
_UNSCORED = {
    "not_applicable": "not applicable",
    "no_evidence": "no evidence",
    "judge_failed": "judge failed",
    "scorer_failed": "scorer failed",
}
_NOT_COMPARABLE = {
    "only in the first run": "only in the first run",
    "only in the second run": "only in the second run",
}
_METRICS = {
    "accuracy": "accuracy",
    "score": "mean score",
    "points": "points",
    "overall": "overall",
    "drop": "relative drop",
    "steps_of_correct": "steps of correct answers",
    "average": "average on the scale",
    "pass_rate": "pass rate",
    "excellent_rate": "excellent rate",
    "unknown_rate": "judge could not tell",
    "judge_variance": "variance of the judge's repeats",
    "win_rate": "win rate",
    "tie_rate": "tie rate",
    "loss_rate": "loss rate",
    "decisive_win_rate": "win rate of decided comparisons",
    "consistency": "same verdict in both orders",
    "first_place_rate": "verdicts for the text shown first",
    "strength": "strength (Elo)",
    "confidence": "confidence of the jury",
    "moderate_disagreement_rate": "moderate disagreement",
    "severe_disagreement_rate": "severe disagreement",
    "arbitrated_rate": "decided by the arbitrator",
    "alpha": "Krippendorff's alpha",
    "kappa": "Cohen's kappa",
    "leaning": "leaning against the others",
    "outlier_rate": "outlier scores",
    "abstained_rate": "abstained",
    "failed_rate": "failed",
    "tokens": "tokens per item",
    "cost": "cost per item",
}
_DETAILS = {
    "parameter_accuracy": "parameter accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
}
_DETAILS_OF_CALLS = {
    "precision": "precision of calls",
    "recall": "recall of calls",
    "f1": "F1 of calls",
}
_SECTIONS = {
    "": "Whole run",
    "official": "Official aggregates",
    "group": "By group",
    "category": "By category",
    "level": "By level",
    "fault": "By fault put in",
    "attachment": "By attachment",
    "subject": "By subject",
    "language": "By language",
    "type": "By type",
    "topic": "By topic",
    "judge": "By judge",
    "judges": "By pair of judges",
    "pair": "By pair of sets",
    "system": "By set",
}
_STATES = {
    "running": "not finished",
    "stopped": "stopped",
    "copying": "half copied",
    "finished": "finished",
    "inconclusive": "inconclusive",
}
_ROLES = {
    "system": "system",
    "user": "user",
    "assistant": "agent",
    "tool": "tool",
    "environment": "environment",
    "policy": "policy",
    "nobody": "nobody",
    "turn": "turn",
    "expected": "expected:",
}
_KINDS = {
    "text": "says",
    "reasoning": "thinks",
    "file": "file",
    "call": "calls",
    "result": "gives back",
    "change": "changes",
    "approves": "approves",
    "denies": "denies",
    "answers": "answers",
    "decides": "decides",
}
_CALLS = {
    "matched": "matched",
    "partly": "partly right",
    "out of order": "out of order",
    "wrong arguments": "wrong argument",
    "wrong function": "wrong tool",
    "missing": "missing",
    "extra": "extra",
    "repeated": "repeated",
    "forbidden": "forbidden",
    "more": "more",
    "free": "nothing was expected",
}


class ReportWords:
    """The names and number forms of one language, as templates and tables use them."""

    def __init__(self, lang: str) -> None:
        self.lang = lang

    def t(self, sentence: str | Sentence, /, **values: object) -> str:
        """Return a sentence in the language."""
        return speak(sentence, self.lang, **values)

    def outcome(self, name: str) -> str:
        return self.t(_OUTCOMES[name]) if name in _OUTCOMES else _spaced(name)

    def error(self, name: str) -> str:
        return self.t(_ERRORS[name]) if name in _ERRORS else _spaced(name)

    def stop(self, name: str) -> str:
        return self.t(_STOPS[name]) if name in _STOPS else _spaced(name)

    def unscored(self, name: str) -> str:
        return self.t(_UNSCORED[name]) if name in _UNSCORED else _spaced(name)

    def left_out(self, why: str) -> str:
        """Return why a sample is in no mean, or in no comparison."""
        if why in _NOT_COMPARABLE:
            return self.t(_NOT_COMPARABLE[why])
        return self.unscored(why) if why in _UNSCORED else self.outcome(why)

    def detail(self, name: str, *, of_calls: bool = False) -> str:
        """Return the words for a number that a scorer returns with its verdict; `of_calls` if it compared tool calls."""
        if of_calls and name in _DETAILS_OF_CALLS:
            return self.t(_DETAILS_OF_CALLS[name])
        return self.t(_DETAILS[name]) if name in _DETAILS else _spaced(name)

    def state(self, name: str) -> str:
        return self.t(_STATES[name]) if name in _STATES else _spaced(name)

    def role(self, name: str) -> str:
        return self.t(_ROLES[name]) if name in _ROLES else _spaced(name)

    def kind(self, name: str) -> str:
        return self.t(_KINDS[name]) if name in _KINDS else _spaced(name)

    def call(self, kind: str) -> str:
        """Return the words for a scorer's finding about a call."""
        return self.t(_CALLS[kind]) if kind in _CALLS else _spaced(kind)

    def section(self, key: str) -> str:
        return self.t(_SECTIONS[key]) if key in _SECTIONS else self.t("By {key}", key=key)

    def metric(self, name: str) -> str:
        """Return the words for a metric, with its scorer: `exact.accuracy` is 'exact · accuracy'."""
        scorer, _, metric = name.rpartition(".")
        if metric.startswith("official_"):
            said = self.t("{name}, official tool", name=self.metric(metric.removeprefix("official_")))
        elif metric.endswith(" (corrected)"):
            said = self.t("{name}, corrected", name=self.metric(metric.removesuffix(" (corrected)")))
        else:
            said = self.t(_METRICS[metric]) if metric in _METRICS else metric
        return f"{scorer} · {said}" if scorer else said

    def value(self, estimate: Estimate) -> str:
        """Return the value of an estimate: a share in percent, a number unchanged; '–' for none."""
        return self._in_unit(estimate.value, estimate)

    def interval(self, estimate: Estimate) -> str:
        """Return the interval of an estimate as one span, with its level where that is not 95%; '–' for none."""
        span = self._between(estimate.low, estimate.high, estimate)
        is_usual = estimate.low is None or abs(estimate.level - 0.95) < 1e-9
        return span if is_usual else f"{span} ({100 * estimate.level:g}%)"

    def bounds(self, estimate: Estimate) -> str:
        """Return floor and ceiling of an estimate as one span; '–' for none."""
        return self._between(estimate.floor, estimate.ceiling, estimate)

    def percent(self, value: float | None) -> str:
        """Return a share in percent; '–' for none.

        >>> ReportWords("en").percent(0.5234), ReportWords("en").percent(-0.25), ReportWords("en").percent(None)
        ('52.3%', '-25.0%', '–')
        """
        if value is None:
            return "–"
        return f"{100 * value:.1f}%" if value <= 1 else f"{value:.4g}"

    def span(self, low: float | None, high: float | None) -> str:
        """Return two shares as one span.

        >>> ReportWords("en").span(0.481, 0.5639)
        '48.1–56.4%'
        """
        if low is None or high is None:
            return "–"
        return f"{self.percent(low).removesuffix('%')}–{self.percent(high)}"

    def sentence(self, estimate: Estimate, label: str) -> str:
        """Describe an estimate in words, for readers who cannot see its plot."""
        if estimate.value is None:
            return self.t(
                "{label}: no value; between {floor} and {ceiling}",
                label=label,
                floor=self._in_unit(estimate.floor, estimate),
                ceiling=self._in_unit(estimate.ceiling, estimate),
            )
        if estimate.low is None:
            return self.t("{label}: {value}, no interval", label=label, value=self.value(estimate))
        return self.t(
            "{label}: {value}, interval {interval}",
            label=label,
            value=self.value(estimate),
            interval=self.interval(estimate),
        )

    def count(self, number: int) -> str:
        return f"{number:,}"

    def shown(self, shown: int, count: int) -> str:
        """Return how many of something are shown, or how many there are where that is all.

        >>> ReportWords("en").shown(10, 1234), ReportWords("en").shown(7, 7)
        ('10 of 1,234', '7')
        """
        if shown == count:
            return self.count(count)
        return self.t("{shown} of {count}", shown=self.count(shown), count=self.count(count))

    def amount(self, number: float) -> str:
        """Return a number of any size, such as a mean of tokens or money.

        >>> ReportWords("en").amount(12345.6), ReportWords("en").amount(0.001234)
        ('12,346', '0.00123')
        """
        return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"

    def around(self, text: str, ends: Sequence[float | None], write: Callable[[float], str]) -> str:
        """Return a number with the ends of its interval after it; alone where neither is known."""
        low, high = ("–" if end is None else write(end) for end in ends)
        return text if low == high == "–" else f"{text} [{low} … {high}]"

    def seconds(self, seconds: float | None) -> str:
        """Return a length of time.

        >>> ReportWords("en").seconds(0.0341), ReportWords("en").seconds(0.25), ReportWords("en").seconds(75.2)
        ('34 ms', '0.25 s', '1 min 15 s')
        """
        if seconds is None:
            return "–"
        if 0 < seconds < 0.0995:
            return f"{1000 * seconds:.2g} ms"
        if seconds < 60:
            return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds:.2f} s"
        minutes, rest = divmod(round(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"

    def when(self, unix: float) -> str:
        """Return a moment in the time of the reader's machine, with its distance from UTC."""
        if not 0 < unix < 1e11:
            return "–"
        local = time.localtime(unix)
        hours, minutes = divmod(abs(local.tm_gmtoff) // 60, 60)
        ahead = (
            ""
            if not local.tm_gmtoff
            else f"{'+' if local.tm_gmtoff > 0 else '-'}{hours}" + (f":{minutes:02}" if minutes else "")
        )
        return f"{time.strftime('%Y-%m-%d %H:%M', local)} UTC{ahead}"

    def _in_unit(self, value: float | None, estimate: Estimate) -> str:
        return f"{value:.4g}" if estimate.unit == "number" and value is not None else self.percent(value)

    def _between(self, low: float | None, high: float | None, estimate: Estimate) -> str:
        if estimate.unit == "number" and low is not None and high is not None:
            return f"{low:.4g}–{high:.4g}"
        return self.span(low, high)


def _spaced(name: str) -> str:
    return name.replace("_", " ")
