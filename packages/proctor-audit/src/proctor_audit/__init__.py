"""Audit tasks: may they be trusted to tell good from bad?"""
