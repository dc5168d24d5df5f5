"""Run code that is not ours in processes of its own, without our environment, our files or the network."""

from proctor.isolation.limits import Confinement, Limits, WorkerRaised
from proctor.isolation.packages import find_packages
from proctor.isolation.process import Program, confine
from proctor.isolation.talking import TalkingWorker
from proctor.isolation.workers import Instance, Workers

__all__ = [
    "Confinement",
    "Instance",
    "Limits",
    "Program",
    "TalkingWorker",
    "WorkerRaised",
    "Workers",
    "confine",
    "find_packages",
]
