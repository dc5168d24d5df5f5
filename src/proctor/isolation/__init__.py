"""Run code that is not ours in processes of its own, without our environment, our files or the network."""

from proctor.isolation.limits import Limits, WorkerRaised
from proctor.isolation.packages import find_packages
from proctor.isolation.workers import Instance, Workers

__all__ = ["Instance", "Limits", "WorkerRaised", "Workers", "find_packages"]
