"""Turn the official tasks into samples.

One sample is a pair, here of a user task and an injection task, whose environment holds the attack's text:

    Sample(id="banking/user_task_0/injection_task_3", cluster="banking/user_task_0",
           tags={"suite": "banking", "setting": "attacked", "part": "attacked/banking"},
           meta={"scene": {"version": "v1.2.2", "suite": "banking", "user_task": "user_task_0",
                           "injection_task": "injection_task_3", "attack": "direct", "model": "local"}})
"""

from collections.abc import Iterator, Sequence

from proctor.core.errors import BadInput
from proctor.core.near import near
from proctor.core.sample import Message, Sample, Turn
from proctor_benchmarks.agentdojo.official import OfficialListing

VERSION = "v1.2.2"
NO_ATTACK = "none"
CLEAN, ATTACKED, ALONE = "clean", "attacked", "alone"


def suites_of(wanted: str | Sequence[str], listing: OfficialListing) -> list[str]:
    """Return the suites that are meant: a list, one text with commas, or `all`.

    Raises:
        BadInput: there is no such suite.
    """
    names = [name.strip() for name in (wanted.split(",") if isinstance(wanted, str) else wanted) if name.strip()]
    if names in ([], ["all"]):
        return list(listing.suites)
    for name in names:
        if name not in listing.suites:
            raise BadInput(
                "AgentDojo has no suite '{name}'. Did you mean '{near}'? Known: {known}.",
                name=name,
                near=next(iter(near(name, listing.suites)), next(iter(listing.suites))),
                known=", ".join(listing.suites),
            )
    return list(dict.fromkeys(names))


def samples_of(listing: OfficialListing, name: str, version: str, attack: str, model: str) -> Iterator[Sample]:
    """Yield the samples of a suite: user tasks, and with an attack also injection tasks as user tasks, and all pairs."""
    suite = listing.suites[name]
    scene = {"version": version, "suite": name}

    def sample(setting: str, user_task: str, prompt: str, **more: str) -> Sample:
        messages = (Message.of("system", listing.system), Message.of("user", prompt))
        injection = more.get("injection_task")
        return Sample(
            id=f"{name}/{user_task}" + (f"/{injection}" if injection else ""),
            turns=(Turn(messages=messages),),
            cluster=f"{name}/{user_task}",
            tags={"suite": name, "setting": setting, "part": f"{setting}/{name}"},
            meta={"scene": {**scene, "user_task": user_task, **more}},
        )

    for user_task, prompt in suite.user_tasks.items():
        yield sample(CLEAN, user_task, prompt)
    if attack == NO_ATTACK:
        return
    goals = dict(suite.injection_tasks)
    if listing.attacks[attack]:  # it wants nothing to be done, so one goal is like any other
        goals = dict(list(goals.items())[:1])
    else:
        for injection_task, goal in goals.items():
            yield sample(ALONE, injection_task, goal)
    for user_task, prompt in suite.user_tasks.items():
        for injection_task in goals:
            yield sample(ATTACKED, user_task, prompt, injection_task=injection_task, attack=attack, model=model)
