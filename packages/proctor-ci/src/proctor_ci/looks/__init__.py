"""Run until a rule is decided: the rule, the looks at the run, and intervals that hold for any number of looks."""
