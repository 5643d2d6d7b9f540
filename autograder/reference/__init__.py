"""What is right: short, readable PyTorch, one concept a module."""
