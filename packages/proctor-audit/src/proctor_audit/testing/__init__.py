"""What a check of a task promises, as tests: a file of tests inherits the class, with rows that are flawed and rows that are sound."""

from proctor_audit.testing.checks import CheckContract as CheckContract
