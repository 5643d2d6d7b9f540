"""One submission through the sandbox: marks, states, an instructor's own tests, and what a crash does not cost."""

import shutil
from dataclasses import replace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder import judge
from autograder.grading.run import CheckCall, Run, State, check_call, not_run
from autograder.reference import attention, scaling
from autograder.sandbox.limits import Limits

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is missing: apt install bubblewrap")
SEED = 4711
LIMITS = Limits()
SCORES = "def attention_scores(q, k):\n    return q @ k.transpose(-2, -1)"
SUM = "def weighted_sum(weights, v):\n    return weights @ v"


def check(source, points=4):
    facts = {"grade": True, "solution": False, "locked": True, "points": points, "grade_id": f"id-{abs(hash(source))}"}
    return new_code_cell(source, metadata={"nbgrader": facts})


def graded(*cells, limits=LIMITS):
    setup = new_code_cell("import torch\nfrom torch import nn\nfrom autograder import check, hint",
                          metadata={"nbgrader": {"grade": False, "solution": False, "locked": True, "grade_id": "i"}})
    notebook = new_notebook(cells=[setup, *(new_code_cell(c) if isinstance(c, str) else c for c in cells)])
    return Run(notebook, None, SEED, limits)()


def results(notebook):
    """For each check cell: its result, or the name of its error."""
    last = [c.outputs[-1] for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]
    return [o.get("ename") or o.data["text/plain"] for o in last]


def test_marks_equal_those_of_judge_on_this_side():
    wrong = "def softmax_jacobian(p):\n    return torch.diag(p) - torch.outer(p, p)"
    notebook = graded(SCORES, check("check(attention_scores)"), wrong, check("check(softmax_jacobian)"))
    expected = judge(lambda p: __import__("torch").diag(p) - p.outer(p), seed=SEED, exercise="softmax_jacobian")
    assert results(notebook) == [repr(judge(attention.attention_scores, seed=SEED).score), repr(expected.score)]
    assert notebook.metadata["autograder"] == {"state": "graded", "reason": "", "cell": None, "again": False}
    report = notebook.cells[4].outputs[0].data["application/vnd.autograder.report+json"]
    assert report["diagnoses"] == ["only_one_vector"]


def test_a_module_and_a_generator_cross_the_wall():
    import inspect

    source = inspect.getsource(attention.SelfAttention)
    helper = inspect.getsource(attention.scaled_dot_product_attention) + "\n\n" + inspect.getsource(
        attention.attention_weights) + SCORES.join(["\n\n", "\n\n"]) + SUM
    std = inspect.getsource(scaling.dot_product_std)
    notebook = graded("import math\nfrom torch import Tensor", helper, source, check("check(SelfAttention)", 8), std,
                      check("check(dot_product_std)"))
    assert results(notebook) == ["8.0", "4.0"]


def test_the_check_cell_is_judged_here_whatever_the_learner_did_to_check():
    notebook = graded("check = lambda *a, **k: 4.0", "attention_scores = lambda q, k: q",
                      check("check(attention_scores)"))
    assert float(results(notebook)[0]) < 1


def test_what_is_missing_or_a_stub_gets_nothing():
    stub = "def attention_scores(q, k):\n    raise NotImplementedError"
    notebook = graded(check("check(weighted_sum)"), stub, check("check(attention_scores)"))
    assert results(notebook) == ["NameError", "0.0"]


def test_a_cell_that_is_interrupted_costs_nothing_that_stands_before_it():
    notebook = graded(SCORES, check("check(attention_scores)"), "while True: pass", SUM, check("check(weighted_sum)"),
                      limits=replace(LIMITS, cell_seconds=4))
    assert results(notebook) == ["4.0", "4.0"] and notebook.metadata["autograder"]["state"] == "graded"
    assert notebook.cells[3].outputs[-1].ename == "TimeoutError"


def test_a_crash_costs_only_its_own_cell():
    notebook = graded(SCORES, check("check(attention_scores)"), "import os; os._exit(1)", SUM,
                      check("check(weighted_sum)"))
    assert results(notebook) == ["4.0", "4.0"]
    state = notebook.metadata["autograder"]
    assert (state["state"], state["cell"]) == ("partly graded", 4) and "ended" in state["reason"]
    assert notebook.cells[3].outputs[-1].ename == "Stopped"


def test_an_answer_that_ends_the_process_while_judged_is_for_a_person():
    killer = "def attention_scores(q, k):\n    import os; os._exit(0)"
    notebook = graded(killer, check("check(attention_scores)"), SUM, check("check(weighted_sum)"))
    assert results(notebook) == ["0.0", "4.0"]
    report = notebook.cells[2].outputs[0].data["application/vnd.autograder.report+json"]
    assert report["needs_a_person"] and notebook.metadata["autograder"]["cell"] == 3


def test_crashing_again_and_again_ends_with_a_reason():
    crash = "import os; os._exit(1)"
    notebook = graded(SUM, check("check(weighted_sum)"), *[crash] * 6, SCORES, check("check(attention_scores)"))
    assert results(notebook) == ["4.0", "NotGraded"]
    assert notebook.metadata["autograder"]["state"] == "partly graded"


def test_a_deadline_for_the_whole_notebook():
    limits = replace(LIMITS, notebook_seconds=20)
    notebook = graded("import time\ntime.sleep(60)", check("check(weighted_sum)"), limits=limits)
    assert results(notebook) == ["NotGraded"]
    assert "longer than 20 seconds" in notebook.metadata["autograder"]["reason"]


LEARNER = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 2)
    def forward(self, x):
        return 2 * self.lin(x)
limit = 7
table = {"a": [1, 2.5]}
"""
ASSERTIONS = """
q = torch.randn(1, 2, 4, requires_grad=True)
k = torch.randn(1, 3, 4)
assert torch.equal(attention_scores(q, k), q @ k.mT)
attention_scores(q, k=k).sum().backward()
assert torch.allclose(q.grad, k.sum(1).expand(2, 4)[None])
net = Net()
assert isinstance(net, nn.Module) and isinstance(net, Net) and not isinstance(net, nn.Linear)
net.load_state_dict({"lin.weight": torch.ones(2, 3), "lin.bias": torch.zeros(2)})
out = net(torch.ones(1, 3))
assert out.tolist() == [[6.0, 6.0]]
out.sum().backward()
assert net.lin.weight.grad.tolist() == [[2.0] * 3] * 2
assert limit == 7 and table["a"] == (1, 2.5)
print("all good")
3.5
"""


def test_an_instructors_own_assertions_keep_working():
    notebook = graded(SCORES, LEARNER, check(ASSERTIONS), check("assert attention_scores(1, 2) == 5"), check("1 / 0"),
                      check("assert limit == 8, 'limit should be 8'"))
    assert results(notebook) == ["3.5", "LearnerError", "ZeroDivisionError", "AssertionError"]
    assert notebook.cells[-1].outputs[-1].evalue == "limit should be 8"


def test_an_assertion_cell_that_passes_shows_nothing_and_gets_its_points():
    from nbgrader.utils import determine_grade

    notebook = graded(SUM, check("assert weighted_sum(torch.ones(1, 2, 3), torch.ones(1, 3, 4)).sum() == 24"))
    assert determine_grade(notebook.cells[-1])[0] == 4


def test_learners_tags_and_text_cells_change_nothing():
    skipped = new_code_cell(SUM, metadata={"tags": ["skip-execution"]})
    assert results(graded(new_markdown_cell("text"), skipped, check("check(weighted_sum)"))) == ["4.0"]


def test_warnings_prints_and_slow_but_legal_code_cost_nothing():
    slow = """
import sys, time, warnings
def weighted_sum(weights, v):
    warnings.warn("careful"); print("x", file=sys.stderr); time.sleep(0.05)
    return weights @ v
print("to stderr", file=sys.stderr)
"""
    assert results(graded(slow, check("check(weighted_sum)"))) == ["4.0"]


@pytest.mark.parametrize("source, call", [
    ("check(f)", CheckCall("f", "f")), ("check(g, exercise='f')", CheckCall("g", "f")),
    ("\ncheck(f)\n", CheckCall("f", "f")),
    ("check(f)  # a comment", CheckCall("f", "f")), ("x = check(f)", None), ("check(f); 3", None),
    ("check(lambda x: x)", None), ("assert f(1)", None), ("check(", None),
])
def test_check_cells_are_recognised(source, call):
    assert check_call(source) == call


def test_a_submission_that_is_not_run_says_why_in_every_check():
    notebook = not_run(new_notebook(cells=[new_code_cell("x"), check("check(f)")]), State("failed", "It is a link."))
    assert results(notebook) == ["NotGraded"] and "It is a link." in notebook.cells[1].outputs[0].evalue


def test_what_a_check_sends_is_in_nothing_that_is_shown():
    keeper = """
import os, pickle
heard = []
def attention_scores(q, k):
    heard.append(q)
    open("/tmp/heard", "w").write(str(q))
    return q @ k.transpose(-2, -1)
"""
    teller = "print(len(heard), os.path.exists('/tmp/heard')); heard"
    notebook = graded(keeper, check("check(attention_scores)"), teller, SUM, check("check(weighted_sum)"), teller)
    assert results(notebook) == ["4.0", "4.0"]
    for cell in (notebook.cells[3], notebook.cells[6]):
        assert [o.get("text") or o.data["text/plain"] for o in cell.outputs] == ["0 False\n", "[]"]


def test_a_check_sees_what_was_defined_before_it_and_nothing_later():
    named = check("check(attention_scores, exercise='attention_scores')")
    notebook = graded(check("check(attention_scores)"), SCORES, named,
                      "def attention_scores(q, k):\n    return q", check("check(attention_scores)  # again"))
    assert results(notebook)[:2] == ["NameError", "4.0"] and float(results(notebook)[2]) < 4
