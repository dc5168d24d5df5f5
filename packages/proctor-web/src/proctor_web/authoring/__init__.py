"""Eval-set files: editing their cases, running them, and accepting results."""
