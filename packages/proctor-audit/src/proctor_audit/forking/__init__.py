"""Fork a trial: its recorded steps up to one of them, then another model, prompt or reply."""
