"""Plug-ins for `nbgrader autograde`."""

import contextlib
import os

from nbgrader.preprocessors import Execute

from autograder.classroom.folders import Classroom


class SeededExecute(Execute):
    """Runs a submission with the classroom's secret seed in the kernel's environment, where `check` finds it.

    Only here: `nbgrader validate` and JupyterLab read the same configuration, and a learner must not meet the seed.
    """

    def preprocess(self, nb, resources, km=None):
        with environment(AUTOGRADER_SEED=str(Classroom.at().grading_seed())):
            return super().preprocess(nb, resources, km=km)


@contextlib.contextmanager
def environment(**variables: str):
    """Set environment variables, and put back what was there, also after an exception."""
    earlier = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in earlier.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
