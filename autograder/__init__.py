"""The autograder of *No Step Skipped: attention and the Transformer in PyTorch*.

Notebooks use three names: `check`, `hint` and `judge`. They are loaded on first use, so that
`import autograder` costs little.
"""

__all__ = ["check", "hint", "judge"]


def __getattr__(name: str):
    if name in ("check", "hint"):
        from autograder.learner import checking

        return getattr(checking, name)
    if name == "judge":
        from autograder.judging.judge import judge

        return judge
    raise AttributeError(f"module 'autograder' has no attribute {name!r}")
