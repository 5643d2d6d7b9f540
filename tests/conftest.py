"""One class, graded once with nbgrader's own commands, for all tests of the classroom."""

import pytest
from class_tools import ASSIGNMENT, GradedClass, mark_by_hand

from autograder.classroom import sample
from autograder.classroom.folders import Classroom
from autograder.classroom.pipeline import Course

COMMENT = "Good: you saw that $S_{ij} = S_{ji}$. <script>alert(1)</script>"


@pytest.fixture(scope="session")
def graded(tmp_path_factory) -> GradedClass:
    """Eight students of chapter 4, graded; graded again; and a third time after a person marked a written answer."""
    classroom = Classroom(tmp_path_factory.mktemp("graded").resolve() / "class")
    sample.write_class(classroom, 8, sample.SEED, [ASSIGNMENT])
    result = GradedClass(classroom)
    assert Course(classroom, say=result.first.append).grade([ASSIGNMENT])
    assert Course(classroom, say=result.second.append).grade([ASSIGNMENT])
    mark_by_hand(classroom, "ada", 3.5, COMMENT)
    assert Course(classroom, say=result.third.append).grade([ASSIGNMENT])
    return result
