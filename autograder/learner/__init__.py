"""The learner's side: all that may lie where untrusted code runs.

Nothing in this folder knows a right answer. It runs what the learner wrote on given inputs (`runner`), notices
library functions that an exercise puts off limits (`guard`), and offers `check` and `hint` (`checking`) and `examine`
(`clinic`).
"""
