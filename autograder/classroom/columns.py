"""Plain text in columns, also for names that are not in Latin letters."""

import unicodedata


def width(text: str) -> int:
    """How many columns of a terminal a text takes: two for a wide letter, none for an accent set on another."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text if unicodedata.category(c) not in ("Mn", "Me", "Cf"))


def padded(text: str, columns: int) -> str:
    return text + " " * max(0, columns - width(text))


def table(head: list[str], rows: list[list[str]]) -> str:
    """Rows under a head. A cell of several lines makes its row several lines high."""
    body = [[cell.split("\n") for cell in row] for row in rows]
    columns = [max([width(title), *(width(line) for row in body for line in row[i])]) for i, title in enumerate(head)]
    lines = [_line(head, columns), "  ".join("-" * c for c in columns)]
    for row in body:
        for i in range(max(map(len, row))):
            lines.append(_line([cell[i] if i < len(cell) else "" for cell in row], columns))
    return "\n".join(lines)


def _line(cells: list[str], columns: list[int]) -> str:
    return "  ".join(padded(cell, c) for cell, c in zip(cells, columns, strict=True)).rstrip()
