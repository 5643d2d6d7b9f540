"""What Canvas and Moodle would make of an exported file, by the rules of their own importers.

Neither can be installed for a test, so their rules were read in their sources and are written down here anew, each
with the place where it stands. A reader refuses what the platform refuses, and returns the marks that it would store.
"""

import csv
import io
import re
from dataclasses import dataclass, field

NEVER_A_MARK = ("Current Score", "Current Points", "Current Grade", "Final Score", "Final Points", "Final Grade",
                "Override Score", "Override Grade", "Override Status")


class NotImported(Exception):
    """The platform would refuse the whole file."""


@dataclass(frozen=True)
class CanvasStudent:
    id: int
    name: str
    sortable: str
    login: str = ""
    sis: str = ""


@dataclass
class CanvasCourse:
    """instructure/canvas-lms: lib/gradebook_importer.rb (methods in parentheses), app/models/assignment.rb and
    ui/features/gradebook_uploads/jquery/process_gradebook_upload.js. `assignments`: titles by id."""

    students: list[CanvasStudent]
    assignments: dict[int, str]
    marks: dict[tuple[int, str], str | None] = field(default_factory=dict)
    points: dict[str, str] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)
    new_assignments: list[str] = field(default_factory=list)

    def upload(self, content: bytes) -> "CanvasCourse":
        text = content.decode("utf-8")
        separator = self.separator(text.splitlines()[:3])
        kept = "\n".join(line for line in text.split("\n") if not re.fullmatch("[;, ]+", line))  # (csv_stream)
        head, *lines = csv.reader(io.StringIO(kept, newline=""), delimiter=separator, strict=True)
        first = self.first_mark(head)
        columns = {}
        for place, title in enumerate(head):
            if place >= first and not any(words in title for words in NEVER_A_MARK):  # (strip_non_assignment_columns)
                columns[self.title(title)] = head.index(title)  # (calc_assignment_indices)
        for line in ([self.number(value) for value in line] for line in lines):
            if "Points Possible" in line[0]:  # (check_for_non_student_row)
                self.points |= {title: line[place] for title, place in columns.items()}
            elif any(re.sub("muted|manual posting.*", "", value, flags=re.I).strip() for value in line):
                self.row(line, columns)
        return self

    @staticmethod
    def separator(lines: list[str]) -> str:
        """The first three lines of the file, as lines, decide (identify_delimiter): the separator that cuts each of
        them into the same number of fields, and into more; one that cannot be read counts as none."""
        counts = {}
        for separator in ";,":
            try:
                found = {len(next(csv.reader([line], delimiter=separator, strict=True))) for line in lines}
            except csv.Error:
                found = set()
            counts[separator] = found.pop() if len(found) == 1 else 0
        return ";" if counts[";"] > counts[","] else ","

    @staticmethod
    def first_mark(head: list[str]) -> int:
        """Where the marks begin (header?, update_column_count): name, ID, perhaps both SIS columns, then Section."""
        if not (len(head) > 3 and "Student" in head[0] and "ID" in head[1]):
            raise NotImported("Invalid header row")
        first = 3
        if re.search(r"SIS\s+Login\s+ID", head[2]):
            first = 4
        elif re.search(r"SIS\s+User\s+ID", head[2]) and re.search(r"SIS\s+Login\s+ID", head[3]):
            first = 5 + bool(re.search(r"Integration\s+ID", head[4]))
            first += bool(re.search(r"Root\s+Account", head[first - 1]))
        if "Section" not in head[first - 1]:
            raise NotImported("Invalid header row")
        return first

    def title(self, head: str) -> str:
        """The assignment that a column is (parse_assignments): "title (id)", else the same title, else a new one."""
        found = re.fullmatch(r"(.*)\s\((\d+)\)", head)  # Assignment.title_and_id
        title = self.assignments.get(int(found[2])) if found else None
        if title is None and head not in self.assignments.values():
            self.new_assignments.append(found[1] if found else head)
        return title or head

    @staticmethod
    def number(value: str) -> str:
        """The last comma or point of a number is its decimal point (decimal_comma_to_period)."""
        if not re.fullmatch(r"-?[0-9.,]+%?", value):
            return value
        *whole, last = re.split("[,.]", value)
        return f"{''.join(whole)}.{last}" if whole else last

    def row(self, line: list[str], columns: dict[str, int]) -> None:
        student = self.find(line)
        if student is None:
            self.strangers.append(line[0])  # the teacher is asked who it is
            return
        for title, place in columns.items():
            # nothing is posted as nothing (populateGradeDataPerSubmission), which takes an older mark away
            self.marks[student.id, title] = line[place].strip() or None

    def find(self, line: list[str]) -> CanvasStudent | None:
        """(process_student) Ruby's "4711-x".to_i is 4711."""
        number = int(re.match(r"\s*(\d*)", line[1])[1] or 0)
        tests = [lambda s: s.id == number, lambda s: line[2] and s.sis == line[2],
                 lambda s: line[3] and s.login == line[3], lambda s: line[0] in (s.name, s.sortable)]
        return next((s for test in tests for s in self.students if test(s)), None)


@dataclass(frozen=True)
class MoodleUser:
    username: str
    email: str
    idnumber: str = ""


def moodle_marks(content: bytes, users: list[MoodleUser], column: str, field: str, assignment: str,
                 new: bool = False, comma: str = ".") -> dict[str, tuple[float | None, str]]:
    """Marks and remarks by username, as moodle/moodle imports them: lib/csvlib.class.php and
    grade/import/csv/classes/load_data.php (methods in parentheses).

    column, field: the two selections under "Identify user by"; new: "New grade item" was selected for the column of
    marks, else an item that is there; comma: the decimal separator of the site's language.
    """
    head, *lines = php_rows(content)
    if any(len(line) != len(head) for line in lines):  # (csv_import_reader::load_csv_content)
        raise NotImported("csvweirdcolumns")
    who, mark, remark = (head.index(title) for title in (column, f"{assignment} (Real)", f"{assignment} (Feedback)"))
    marks, user = {}, None
    for line in ([value.strip() for value in line] for line in lines):
        if line[who] not in ("", "0"):  # (map_user_data_with_value) a blank field keeps the user of the line before
            user = next((u for u in users if getattr(u, field) == line[who]), None)
        if user is None:
            raise NotImported(f"usermappingerror: {line[who]}")
        marks[user.username] = moodle_grade(line[mark], new, comma), line[remark]
    return marks


def php_rows(content: bytes) -> list[list[str]]:
    """Without the byte order mark, with one kind of line end, trimmed, and read by PHP's fgetcsv, for which a
    backslash before a quotation mark is an escape (csv_import_reader::load_csv_content)."""
    text = re.sub(r"\r\n?", "\n", content.decode("utf-8").removeprefix("\ufeff")).strip()
    try:
        return [row for row in csv.reader(io.StringIO(text, newline=""), escapechar="\\", strict=True) if row]
    except csv.Error as error:
        raise NotImported(str(error)) from None


def moodle_grade(value: str, new: bool, comma: str) -> float | None:
    """No mark is "-" (import_new_grade_item); for an item that is there also "" (update_grade_item)."""
    if value == "-" or (not value and not new):
        return None
    try:
        grade = float(value.replace(" ", "").replace(comma, "."))  # unformat_float
    except ValueError:
        raise NotImported(f"badgrade: {value!r}") from None
    if grade > 100:  # (insert_grade_record), unless the site allows more
        raise NotImported("gradevaluetoobig")
    return grade
