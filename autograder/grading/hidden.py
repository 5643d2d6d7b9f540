"""An instructor's hidden tests: which lines of a cell they are."""

BEGIN, END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"


def hidden_lines(source: str) -> set[int]:
    """The lines from each BEGIN HIDDEN TESTS to its END, or to the end of the cell."""
    found, hidden = set(), False
    for number, line in enumerate(source.splitlines(), start=1):
        hidden = hidden or BEGIN in line
        if hidden:
            found.add(number)
        hidden = hidden and END not in line
    return found


def without_hidden_tests(source: str) -> str:
    """A cell's text as the learner got it."""
    hidden = hidden_lines(source)
    return "\n".join(line for number, line in enumerate(source.splitlines(), start=1) if number not in hidden)
