"""Run code that is not ours in processes of its own, without our environment, our files or the network."""

from proctor.isolation.limits import Confinement, WorkerLimits, WorkerRaised
from proctor.isolation.packages import find_packages
from proctor.isolation.process import WorkerProgram, confine
from proctor.isolation.talking import TalkingWorker
from proctor.isolation.workers import Instance, Workers

__all__ = [
    "Confinement",
    "Instance",
    "TalkingWorker",
    "WorkerLimits",
    "WorkerProgram",
    "WorkerRaised",
    "Workers",
    "confine",
    "find_packages",
]
