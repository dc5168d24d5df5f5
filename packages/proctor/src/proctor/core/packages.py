"""What Proctor's other packages bring, by the extra that installs them, so that the error for what is missing names its extra.

The packages say the same in their entry points; a test holds the two equal.
"""

from collections.abc import Mapping

BROUGHT: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "adapters": {
        "proctor.agents": ("hello_agents", "responses"),
        "proctor.models": ("responses",),
        "proctor.imports": (
            "deepeval",
            "inspect",
            "langfuse",
            "langsmith",
            "lm-eval",
            "matrix",
            "phoenix",
            "promptfoo",
        ),
        "proctor.exports": ("adk", "inspect"),
        "proctor.batches": ("anthropic", "openai"),
        "proctor.environments": ("process",),
        "proctor.scorers": ("adk", "session_state"),
        "proctor.users": ("adk",),
        "proctor.reply_files": ("traces",),
        "proctor.task_files": ("adk",),
        "proctor.task_kinds": ("inspect", "lmeval"),
        "proctor.names": ("inspect_agent", "record", "save_eval_set"),
        "proctor.commands": ("runs.import", "adk.eval", "adk.chat", "adk.evalset", "adk.uploadevalset"),
    },
    "a2a": {"proctor.agents": ("a2a",)},
    "adk": {"proctor.agents": ("adk",)},
    "langgraph": {"proctor.agents": ("langgraph",)},
    "openai-agents": {"proctor.agents": ("openai_agents",)},
    "pydantic-ai": {"proctor.agents": ("pydantic_ai",)},
    "smolagents": {"proctor.agents": ("smolagents",)},
    "postgres": {"proctor.stores": ("postgresql",)},
    "local": {"proctor.agents": ("local",), "proctor.models": ("local",)},
    "litellm": {"proctor.agents": ("litellm",), "proctor.models": ("litellm",)},
    "ray": {"proctor.clusters": ("ray",)},
    "mcp": {"proctor.environments": ("mcp",)},
    "excel": {"proctor.exports": ("xlsx",), "proctor.rows": ("xlsx",)},
    "parquet": {"proctor.exports": ("parquet",), "proctor.rows": ("arrow", "parquet")},
    "hub": {"proctor.exports": ("model-card",), "proctor.hub": ("set", "task")},
    "plots": {"proctor.views": ("draw_comparison", "draw_estimates", "draw_power", "draw_trend")},
    "frames": {"proctor.views": ("to_pandas", "to_polars")},
    "mlflow": {"proctor.exports": ("mlflow",)},
    "otel": {"proctor.exports": ("otel",), "proctor.live_traces": ("otlp",)},
    "prometheus": {"proctor.exports": ("prometheus",)},
    "wandb": {"proctor.exports": ("wandb",)},
    "judging": {
        "proctor.scorers": (
            *("answer", "blanks", "bleu", "by_type", "choice", "chrf", "json", "keywords", "number", "open"),
            *("refusal", "response", "rouge", "semantic", "token_embedding_f1"),
        ),
        "proctor.scorer_settings": ("article",),
        "proctor.matchers": ("schema",),
        "proctor.judges": ("adk_judged", "debate", "deepeval", "jury", "pairwise", "probe", "rubric"),
        "proctor.task_kinds": ("judged-items", "judged-pairs", "judge-probes"),
        "proctor.commands": ("judge.items", "judge.winrate", "judge.agree", "judge.probe", "data.generate"),
    },
    "benchmarks": {
        "proctor.benchmarks": (
            *("agentbench", "agentdojo", "apibank", "bfcl", "chateval", "collaboration", "customer-service", "gaia"),
            *("miniwob", "multi", "sotopia", "tau2", "terminal-basics", "tooleval", "webarena"),
        ),
        "proctor.scorers": ("collaboration",),
        "proctor.agents": ("cli", "debate"),
        "proctor.environments": ("container",),
        "proctor.task_files": ("harbor", "swebench"),
    },
    "audit": {
        "proctor.commands": ("data.audit", "data.twins", "runs.fork", "runs.inspect"),
        "proctor.starters": ("check",),
        "proctor.parity": ("audit",),
    },
    "ci": {
        "proctor.names": ("explain_delta", "gate", "plan", "race", "run_tier", "trends"),
        "proctor.looks": ("until",),
        "proctor.readers": ("run", "comparison"),
        "proctor.starters": ("ci",),
        "proctor.commands": (
            *("ci.gate", "ci.tier", "ci.race", "ci.plan", "ci.baseline", "ci.delta", "ci.trends", "ci.watch"),
            "ci.comment",
        ),
    },
    "web": {"proctor.commands": ("web", "judge.review", "team.audit", "team.mcp")},
    "compat": {"proctor.scorers": ("adaptive",)},
}
PREFIX = "proctor_"  # how the package of an extra is imported


FORMER = {  # where modules were that stored runs name, and where they are; the first that fits counts
    "proctor.agents.debate": "proctor_benchmarks.chateval.agent",
    "proctor.scorers.adaptive": "proctor_compat.multi.adaptive",
    "proctor.scorers.collaboration": "proctor_benchmarks.collaboration.scorer",
    "proctor.scorers.teamwork": "proctor_benchmarks.collaboration.teamwork",
    "proctor.scorers.goals": "proctor_benchmarks.collaboration.goals",
    "proctor.scorers.adk": "proctor_adapters.scorers.adk",
    "proctor.scorers.session_state": "proctor_adapters.scorers.session_state",
    "proctor.evalsets.scenario": "proctor_adapters.users.adk",
    "proctor.benchmarks.": "proctor_benchmarks.",
    "proctor.evalsets.": "proctor_adapters.evalsets.",
    "proctor.agents.": "proctor_adapters.agents.",
    "proctor.exports.": "proctor_adapters.exports.",
    "proctor.environments.": "proctor_adapters.environments.",
    "proctor.models.": "proctor_adapters.models.",
    "proctor.users.": "proctor_adapters.users.",
    "proctor.compat.": "proctor_compat.",
    "proctor.judges.": "proctor_judging.judges.",
    "proctor.scorers.": "proctor_judging.scorers.",
    "proctor.answer_matching.": "proctor_judging.matching.",
    "proctor.judging.": "proctor_judging.tasks.",
    "proctor.review.": "proctor_judging.review.",
    "proctor.generation.": "proctor_judging.generation.",
}


def moved_module(name: str) -> str | None:
    """Return where a module of the kernel is now that has moved to another package; stored runs name it as it was.

    >>> moved_module("proctor.benchmarks.gaia.scorer"), moved_module("proctor.stats.rate")
    ('proctor_benchmarks.gaia.scorer', None)
    """
    return next((now + name.removeprefix(before) for before, now in FORMER.items() if name.startswith(before)), None)


def extra_by_name(group: str) -> dict[str, str]:
    """Return each name of a group of entry points that our packages bring, with the extra that installs it.

    >>> extra_by_name("proctor.stores")
    {'postgresql': 'postgres'}
    """
    return {name: extra for extra, groups in BROUGHT.items() for name in groups.get(group, ())}


def extra_with(group: str, name: str) -> str | None:
    """Return the extra that brings a name of a group of entry points; None if none does.

    >>> extra_with("proctor.benchmarks", "customer_service"), extra_with("proctor.benchmarks", "mine")
    ('benchmarks', None)
    """
    spellings = {name, name.replace("_", "-"), name.replace("-", "_")}
    return next((extra for extra, groups in BROUGHT.items() if spellings & {*groups.get(group, ())}), None)


def extra_of(module: str) -> str | None:
    """Return the extra whose package a module belongs to; None for a module of anything else.

    >>> extra_of("proctor_benchmarks.gaia.scorer"), extra_of("proctor_mine.scorer"), extra_of("proctor.api")
    ('benchmarks', None, None)
    """
    extra = module.partition(".")[0].removeprefix(PREFIX)
    return extra if module.startswith(PREFIX) and extra in BROUGHT else None
