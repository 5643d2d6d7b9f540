"""Grading untrusted submissions: the learner's cells run in the sandbox, judging happens here."""
