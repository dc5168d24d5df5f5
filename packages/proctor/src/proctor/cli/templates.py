"""The files that `proctor init` writes besides a whole project."""

from collections.abc import Mapping
from pathlib import Path

from proctor.cli import output
from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.runtime.visible import visible

TOOLS = '''# {tools}
class Shop:
    def __init__(self, stock: dict[str, int] | None = None) -> None:
        self.stock = {{"tea": 3}} if stock is None else stock  # {state}
        self.basket: list[str] = []

    def buy(self, item: str) -> str:
        """Buy one of an item.

        Args:
            item: its name
        """
        if not self.stock.get(item):
            raise ValueError(f"{{item}} is sold out")  # {error}
        self.stock[item] -= 1
        self.basket.append(item)
        return "ok"
'''
TASK = '''# {task}
from proctor import Sample, Score, Task, Trajectory


def basket(sample: Sample, trajectory: Trajectory) -> Score:
    """{basket}"""
    return Score(points=trajectory.state["basket"] == sample.target, reason=str(trajectory.state))


def task() -> Task:
    none_left = {{"environment": {{"stock": {{"tea": 0}}}}}}  # {start}
    return Task(
        name="shop",
        samples=[
            Sample.ask("two", "Buy two teas.", target=["tea", "tea"]),
            Sample.ask("none", "Buy a tea if there is one.", target=[], meta=none_left),
        ],
        scorers=[basket],
        environment="python:./shop.py:Shop",
    )
'''

POLICY = """# {what}
# {codes}

# {error}
error = 0.05

# {against}
# against = "release"

# {threshold}
[[rule]]
metric = "accuracy"
at_least = {at_least}{by}

# {failed}
[[rule]]
metric = "failed"
at_most = 0.05
by = "value"  # {value}

# {latency}
[[rule]]
metric = "latency"
quantile = 0.95
at_most = 60
by = "value"

# {margin}
# [[rule]]
# metric = "accuracy"
# not_worse_by = 0.05

# {better}
# [[rule]]
# metric = "accuracy"
# better_by = 0.0

# {each}
# [[rule]]
# metric = "accuracy"
# each = "category"
# not_worse_by = 0.1
# error = 0.1

# {cost}
# [[rule]]
# metric = "cost"
# not_worse_by = 0.2
"""

AT_LEAST = 0.6

WATCH_FILE = """# {what}
# {secrets}
# channels = ["TEAM_ALERTS"]

# {quiet}
# quiet = "22:00-08:00"
# timezone = "Asia/Shanghai"

[[watch]]
name = "nightly"

# {task}
task = "./task.py:task"
# tier = "standard"
# agent = "./agent.py:agent"
# gate = "gate.toml"

# {schedule}
schedule = "0 3 * * *"

# {signals}
# signals = ["git", "prompts/*.md", "https://models.example/v1/models#/data/0/id"]

# {drop}
drop = 0.03
false_alarms_per_year = 1

# {rest}
failed = 0.05
failures = 2
# per_month = {{ money = 50 }}

# {controls}
# controls = "controls.jsonl"
"""


def gate_text(*, by_value: bool = False) -> str:
    """Return a policy to start from.

    Args:
        by_value: there are too few samples to show the threshold of the main number, so its value decides.
    """
    only = t("so few samples show nothing about others; leave this out once there are more")
    return POLICY.format(
        at_least=AT_LEAST,
        by=f'\nby = "value"  # {only}' if by_value else "",
        value=t("by what was observed; by its bounds it takes 59 samples without a failure to show 5 %"),
        what=t("What a run has to meet before it ships: proctor ci gate RUN --policy gate.toml"),
        codes=t(
            "GO (exit code 0): every rule is shown to hold. NO-GO (1): one is shown to be broken. Else INCONCLUSIVE (3)."
        ),
        error=t("The greatest chance of a wrong GO, and of a wrong NO-GO; a rule may have its own."),
        against=t("The baseline of rules that compare: a run, or a name given by proctor ci baseline set NAME RUN."),
        threshold=t(
            "A threshold: accuracy is the main number, that of the first scorer; or another number that proctor show RUN lists. Shares are 0 to 1."
        ),
        failed=t("The share of trials that failed, whether by the agent or by what is around it."),
        latency=t(
            "Seconds of a trial: 95 of 100 trials take no longer. Without quantile it is the mean; tokens and cost work alike."
        ),
        margin=t("Not worse than the baseline by more than 5 points."),
        better=t("Better than the baseline; with 0.02, by more than 2 points."),
        each=t('The same for each value of a tag; slice = "category=x" is for one value.'),
        cost=t("Not dearer than the baseline by more than a fifth."),
    )


def watch_text() -> str:
    return WATCH_FILE.format(
        what=t("What is run when, and what people are alerted about: proctor ci watch"),
        secrets=t(
            "Environment variables with addresses of apprise (mailto://, feishu://, dingtalk://, wecombot://, slack://, json://): several in one with spaces between."
        ),
        quiet=t("Hours without alerts; what waits is delivered afterwards, all at once."),
        task=t(
            "A task, or a tier of proctor.toml; agent, store and judge are those of the project where none is named."
        ),
        schedule=t("Minute, hour, day, month, weekday, as in crontab. What was missed is run once."),
        signals=t("It is run besides when one of these changes: a commit, files, or the reply of an address."),
        drop=t("The least fall that is worth an alert, and how many false ones a year are accepted."),
        rest=t("The share of trials lost to infrastructure, failed runs in a row, and spending in a month that are."),
        controls=t("Recorded replies that are scored after each run: when their number moves, it is the judge."),
    )


def write_files(folder: Path, texts: Mapping[str, str], run: str) -> None:
    """Write files unless one of them is there, and name the next command: `run`, with {path} for the first, {where} for a `cd`.

    Raises:
        BadInput: a file is there.
    """
    if there := [name for name in texts if (folder / name).exists()]:
        raise BadInput(
            "{folder} has {names} already, and nothing is written over.", folder=folder, names=", ".join(there)
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        output.line(visible(str(folder / name)))
    where = "" if folder == Path() else f"cd {folder} && "
    output.message(t("Next: {run}", run=run.format(path=folder / next(iter(texts)), where=where)))


def write_environment(folder: Path) -> None:
    texts = {
        "shop.py": TOOLS.format(
            tools=t(
                "Tools with a state: public methods are the tools, public attributes the state. Put your own here."
            ),
            state=t("each attempt at a sample gets an object of its own"),
            error=t("the model sees this as the result of its call"),
        ),
        "task.py": TASK.format(
            task=t("What the agent should do with the tools, and how that is scored."),
            basket=t("Compare the state at the end with the target."),
            start=t("arguments of the class, for this sample"),
        ),
    }
    write_files(folder, texts, "{where}proctor run ./task.py:task --agent openai:MODEL --dry-run")
