"""`nbgrader release_feedback`, for classes in which not everything came through the exchange.

The exchange gives a page to whoever has the secret of the submission that it took. What was laid into the classroom by
hand has none, and nbgrader would stop there, with a traceback and without the pages of everybody that comes after.
"""

from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

NEEDED = ("timestamp.txt", "submission_secret.txt")


class CarefulRelease(ExchangeReleaseFeedback):
    """Releases the pages of what came through the exchange, and says whose did not."""

    def copy_files(self) -> None:
        excluded = set(filter(None, self.coursedir.student_id_exclude.split(",")))
        outside = self.by_hand() - excluded
        self.coursedir.student_id_exclude = ",".join(sorted(excluded | outside))
        super().copy_files()
        if outside:
            self.log.warning("Not released, because they did not hand in through the exchange: %s. Give them their "
                             "pages yourself; they lie in %s.", ", ".join(sorted(outside)),
                             self.coursedir.format_path(self.coursedir.feedback_directory, "STUDENT",
                                                        self.coursedir.assignment_id))

    def by_hand(self) -> set[str]:
        """The students whose page the exchange cannot give to anybody."""
        step, assignment = self.coursedir.feedback_directory, self.coursedir.assignment_id
        folders = {name: Path(self.coursedir.format_path(step, name, assignment))
                   for name in (path.name for path in Path(step).iterdir())}
        return {name for name, folder in folders.items()
                if folder.is_dir() and not all((folder / file).is_file() for file in NEEDED)}
