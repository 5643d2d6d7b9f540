"""The instructor's side: releasing exercises, grading a class with nbgrader, and what comes of it.

Importing this package costs little: `nbgrader_config.py` does it in every nbgrader command and in JupyterLab.
"""
