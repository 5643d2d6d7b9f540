"""What notebook 11 shows of the clinic: the broken code is the fault that is named, and all twenty names are listed."""

import re

import pytest
import torch.nn.functional as F
from notebook_cells import definitions, notebook
from off_limits import loses_exactly_the_values

from autograder.judging.judge import judge
from autograder.reference import clinic

CHAPTER = "11_questions"
CELLS = {cell.id: cell.source for cell in notebook("exercises", CHAPTER).cells}


@pytest.mark.parametrize("number", range(1, 11))
def test_the_code_that_is_shown_is_the_fault(number):
    name = f"clinic_{number}"
    (code,) = re.findall(r"^```python\n(.*?)^```$", CELLS[f"task-clinic-{number}"], re.M | re.S)
    shown = definitions("exercises", CHAPTER)
    exec(code, shown)
    for seed in (None, 0):
        report = judge(shown[name], seed=seed, exercise=name)
        assert report.diagnoses == (clinic.NAMES[name],) and report.score < report.points


def test_all_twenty_names_are_listed_and_no_other():
    listed = [name for line in CELLS["ward-text"].splitlines() if line.startswith("| `")
              for name in re.findall(r"`(\w+)`", line)]
    assert sorted(listed) == clinic.TWENTY


@pytest.mark.parametrize("number", range(1, 11))
def test_what_is_read_before_the_code_names_no_fault(number):
    text = CELLS[f"patient-clinic-{number}"]
    assert not any(name in text or name.replace("_", " ") in text for name in clinic.TWENTY)
    assert CELLS[f"symptom-clinic-{number}"] == f"examine({number})"


def test_the_fused_attention_is_off_limits():
    loses_exactly_the_values("clinic_2", "attention", lambda query, key, value, mask: F.scaled_dot_product_attention(
        query, key, value, attn_mask=mask))

    class Fused(clinic.clinic_7):
        """Asks the fused function too, and does not use its answer."""

        def forward(self, x, mask=None):
            F.scaled_dot_product_attention(x, x, x)
            return super().forward(x, mask)

    loses_exactly_the_values("clinic_7", "attention", Fused)
