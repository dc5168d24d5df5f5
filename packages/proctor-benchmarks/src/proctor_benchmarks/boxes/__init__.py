"""Boxes: computers that are thrown away, in which agents act and verifiers judge what they left."""
