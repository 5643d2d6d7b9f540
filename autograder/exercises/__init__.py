"""What is asked: a module per chapter with each exercise's criteria, points, hints and misconceptions."""
