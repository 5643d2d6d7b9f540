"""Importing this first saves two thirds of a second wherever nbformat is imported later.

jsonschema loads a grammar of web addresses (`rfc3987_syntax`) to check a kind of text that no notebook schema asks
about. It does without where there is none.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)
