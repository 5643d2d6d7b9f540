"""Where untrusted code runs: an IPython kernel inside bubblewrap, and the trusted side's way to talk to it."""
