"""The states in which a submission's grading ends, as they stand in the graded notebook and are shown to people."""

GRADED, PARTLY, FAILED = "graded", "partly graded", "failed"
