"""Who is in a class: `students.csv`, and the people of the sample class.

Ids are plain ASCII, as file names and login names are; people's names are not.
"""

import csv

from autograder.classroom.folders import Classroom

PEOPLE = {
    "ada": ("Ada", "Kowalska"),
    "bao": ("Bảo", "Nguyễn"),
    "chloe": ("Chloé", "Dubois"),
    "dmitri": ("Дмитрий", "Волков"),
    "esra": ("Esra", "Şahin"),
    "fatou": ("Fatou", "Diop"),
    "goran": ("Goran", "Đurić"),
    "hana": ("Hana", "Nováková"),
    "ines": ("Inês", "Gonçalves"),
    "jun": ("俊", "田中"),
    "kofi": ("Kofi", "Mensah"),
    "lucia": ("Lucía", "Ibáñez"),
    "maryam": ("مریم", "رضایی"),
    "nils": ("Nils", "Sjöberg"),
    "oisin": ("Oisín", "Ó Briain"),
    "priya": ("प्रिया", "शर्मा"),
    "quynh": ("Quỳnh", "Trần"),
    "rosa": ("Rosa", "Quispe"),
    "seoyeon": ("서연", "김"),
    "tomas": ("Tomáš", "Dvořák"),
    "uchenna": ("Uchenna", "Okafor"),
    "vasiliki": ("Βασιλική", "Παππά"),
    "wei": ("伟", "李"),
    "xochitl": ("Xóchitl", "Hernández"),
    "yael": ("יעל", "כהן"),
    "zofia": ("Zofia", "Wiśniewska"),
}


def not_enrolled(classroom: Classroom) -> list[str]:
    """Who handed something in and is not in `students.csv`, in order: often a folder whose name is a slip.

    Nobody, where a class has no such file.
    """
    if not classroom.roster.exists():
        return []
    with classroom.roster.open(encoding="utf-8-sig", newline="") as file:
        rows = [{key.strip(): value for key, value in row.items() if isinstance(key, str)}
                for row in csv.DictReader(file)]
    known = {row.get("id") for row in rows}
    return sorted({path.name for path in classroom.submitted.glob("*") if path.is_dir()} - known)


def strangers_named(classroom: Classroom) -> str:
    """One sentence that names who handed in and is not enrolled; "" where there is nobody."""
    strangers = not_enrolled(classroom)
    return f"Not in students.csv: {', '.join(strangers)}. Is the name of a folder a slip?" if strangers else ""


def people(number: int) -> dict[str, tuple[str, str]]:
    """Ids with first and last names, as many as asked for; after the last name the ids go on with ada2, bao2."""
    chosen = {}
    for i in range(number):
        round_, place = divmod(i, len(PEOPLE))
        person, names = list(PEOPLE.items())[place]
        chosen[person + (str(round_ + 1) if round_ else "")] = names
    return chosen
