"""The mistakes that are named: a module a chapter, beside `autograder.exercises`, whose exercises they belong to."""
