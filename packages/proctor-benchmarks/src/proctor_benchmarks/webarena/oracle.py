"""Make what a right answer leaves, for the canary `baseline:oracle`, where nothing is opened."""

import html
from urllib.parse import parse_qsl, urlencode, urlsplit

from proctor.core.sample import Message, Sample
from proctor.core.trajectory import Step, Trajectory
from proctor_benchmarks.webarena.dataset import Config, PageTarget, config_of


def oracle(sample: Sample) -> Trajectory:
    """Return the expected answer, with the expected address and contents as the page that was left open."""
    config = config_of(sample)
    assert config is not None
    contents = [_content(target) for target in config.evaluation.program_html]
    state = {"url": _url(config.evaluation.reference_url or ""), "contents": contents}
    return Trajectory(steps=(Step(message=Message.of("assistant", _answer(config) or "done")),), state=state)


def _answer(config: Config) -> str:
    texts: list[str] = []
    for value in (config.evaluation.reference_answers or {}).values():
        texts += [value] if isinstance(value, str) else value
    return "; ".join(dict.fromkeys(texts))


def _url(references: str) -> str:
    """Return the first expected address, with the keys that only the queries of others have: all are looked for."""
    first, *others = (urlsplit(reference.rstrip("/")) for reference in references.split(" |OR| "))
    query = parse_qsl(first.query)
    for other in others:
        query += [(key, value) for key, value in parse_qsl(other.query) if key not in dict(query)]
    return first._replace(query=urlencode(query)).geturl() if others else first.geturl()


def _content(target: PageTarget) -> str:
    exact, several = target.required_contents.get("exact_match"), target.required_contents.get("must_include", ())
    text = exact if isinstance(exact, str) else "\n".join(entry.split(" |OR| ")[0].strip() for entry in several)
    return html.escape(text, quote=False)
