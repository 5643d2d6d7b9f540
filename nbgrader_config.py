"""nbgrader's configuration: from solutions/ to exercises/, and everything about a class in its classroom.

The environment variable CLASSROOM names the classroom, relative to this folder; unset, it is `classroom`.
"""

from pathlib import Path

import autograder.classroom
import autograder.classroom.patience  # a gradebook that is in use is waited for
from autograder.classroom.folders import Classroom

c = get_config()  # noqa: F821 - nbgrader puts it there
root = Path(__file__).resolve().parent
classroom = Classroom.at()
classroom.make()

c.CourseDirectory.root = str(root)
c.CourseDirectory.course_id = "no-step-skipped"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = str(classroom.submitted)
c.CourseDirectory.autograded_directory = str(classroom.autograded)
c.CourseDirectory.feedback_directory = str(classroom.feedback)
c.CourseDirectory.db_url = classroom.db_url
c.Exchange.root = str(classroom.exchange)

# The stub must stay a NotImplementedError: `check` then says "not attempted", not "wrong".
c.ClearSolutions.code_stub = {
    "python": '# Write your answer here, in place of the next line.\n'
              'raise NotImplementedError("This exercise waits for your answer.")'
}
c.ClearSolutions.text_stub = "*Write your answer here, in place of this line.*"
c.GenerateAssignment.preprocessors.append("autograder.classroom.release.MarkGenerated")

# A check takes well under a second; importing torch on a busy machine can take many.
c.Execute.timeout = 60
c.Execute.shutdown_kernel = "immediate"
c.OverwriteCells.add_missing_cells = True  # a deleted check cell comes back and is graded
# Learners make these themselves and hand them in; one that lies in solutions/ is neither released nor graded.
c.Autograde.exclude_overwriting = {"08_transformer": ["translator.pt"]}
c.Autograde.exporter_class = "autograder.grading.exporter.IntakeExporter"
c.Autograde.autograde_preprocessors = [
    "autograder.grading.plugin.SandboxedExecute",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "autograder.classroom.state.SaveGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
]  # not CheckCellMetadata: the exporter put the instructor's own metadata back
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
]
c.Exporter.optimistic_validation = True  # once at the end, and not after every preprocessor

c.ExportApp.plugin_class = "autograder.classroom.export.Spreadsheet"
c.ClearMetadataPreprocessor.preserve_nb_metadata_mask = {("language_info", "name"), ("autograder",)}

# Formgrader shows what strangers wrote with the instructor's session: no script, no tag that could hold one.
c.HTMLExporter.sanitize_html = True
c.HTMLExporter.filters = {
    "markdown2html": "autograder.classroom.feedback.markdown",
    "clean_html": "autograder.classroom.markup.sanitise",
}
c.ExchangeFactory.collect = "autograder.classroom.collecting.CarefulCollect"
c.ExchangeFactory.release_feedback = "autograder.classroom.returning.CarefulRelease"

c.GenerateFeedback.exporter_class = "autograder.classroom.feedback.FeedbackExporter"
c.GenerateFeedback.preprocessors = ["autograder.classroom.feedback.Summarise"]
# nbgrader gives every HTMLExporter its own template; the more specific section wins.
c.FeedbackExporter.template_name = "feedback_template"
c.FeedbackExporter.extra_template_basedirs = [str(Path(autograder.classroom.__file__).parent)]
