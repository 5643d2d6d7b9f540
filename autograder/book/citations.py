"""How the lists of references look: sorted by author, each entry under its own key.

The text cites by author and year, and every page lists what it cites. Numbered labels would mean another work on
each page, which sphinxcontrib-bibtex rightly warns about; a key means the same everywhere. The stylesheet hides it.
"""

from pybtex.plugin import register_plugin
from pybtex.style.formatting.plain import Style as Plain
from pybtex.style.labels import BaseLabelStyle


class KeyLabels(BaseLabelStyle):
    """Every entry is labelled by its key in references.bib."""

    def format_labels(self, sorted_entries):
        return (entry.key for entry in sorted_entries)


class KeyStyle(Plain):
    """The plain style with keys in place of numbers."""

    default_label_style = "course_keys"


def setup(app) -> dict:
    register_plugin("pybtex.style.labels", "course_keys", KeyLabels)
    register_plugin("pybtex.style.formatting", "course", KeyStyle)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
