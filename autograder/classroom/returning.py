"""`nbgrader release_feedback`, for classes in which not everything came through the exchange.

The exchange gives a page to whoever has the secret of the submission that it took. What was laid into the classroom by
hand has none, and nbgrader would stop there, with a traceback and without the pages of everybody that comes after.
"""

from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

from autograder.classroom.folders import STAMP
from autograder.settings import book_url

NEEDED = (STAMP, "submission_secret.txt")


class CarefulRelease(ExchangeReleaseFeedback):
    """Releases the pages of what came through the exchange, and says whose did not."""

    def copy_files(self) -> None:
        if not self.folders():
            self.fail(f"There are no pages for {self.coursedir.assignment_id} yet; run `autograder grade "
                      f"{self.coursedir.assignment_id}` first.")
        if book_url().startswith("file:"):
            self.log.warning("The pages link to the book on this computer (%s), where no student gets to: set book_url "
                             "in pyproject.toml, grade once more, and release them again.", book_url())
        excluded = set(filter(None, self.coursedir.student_id_exclude.split(",")))
        outside = self.by_hand() - excluded
        self.coursedir.student_id_exclude = ",".join(sorted(excluded | outside))
        super().copy_files()
        if outside:
            self.log.warning("Not released, because they did not hand in through the exchange: %s. Give them their "
                             "pages yourself; they lie in %s.", ", ".join(sorted(outside)),
                             self.coursedir.format_path(self.coursedir.feedback_directory, "STUDENT",
                                                        self.coursedir.assignment_id))

    def folders(self) -> dict[str, Path]:
        """The folders with pages of this assignment, by student."""
        step, assignment = self.coursedir.feedback_directory, self.coursedir.assignment_id
        places = {path.name: Path(self.coursedir.format_path(step, path.name, assignment))
                  for path in Path(self.coursedir.format_path(step, "", "")).glob("*")}
        return {student: folder for student, folder in places.items() if any(folder.glob("*.html"))}

    def by_hand(self) -> set[str]:
        """The students whose page the exchange cannot give to anybody."""
        return {student for student, folder in self.folders().items()
                if not all((folder / file).is_file() for file in NEEDED)}
