"""The contract of `judge` and its report, on a small exercise made here and on real ones."""

import pytest
import torch

from autograder import judge
from autograder.judging import judge as judging
from autograder.judging.catalogue import all_exercises, find_exercise
from autograder.judging.exercise import Exercise
from autograder.judging.judge import PUBLIC_SEED, judge_answer
from autograder.judging.report import NOT_ATTEMPTED, RESULT_FIRST
from autograder.judging.standard import add_standard_criteria
from autograder.learner.calls import Call, Reply
from autograder.learner.runner import run
from autograder.reference import attention, training


def statuses(report):
    return {outcome.criterion: outcome.status for outcome in report.outcomes}


def doubling() -> Exercise:
    exercise = Exercise("doubled", "00_test", lambda x: x * 2, lambda given: Call((given.normal(2, 3),)),
                        returns=("y",), hints=("h",))
    add_standard_criteria(exercise, values=2, gradients=1, double_precision=0.5, arguments_unchanged=0.5)

    @exercise.misconception(see="a#b")
    def squared(x):
        """You square."""
        return x * x

    return exercise


def judged(answer, exercise=None, **options):
    return judge_answer(exercise or doubling(), lambda call, seed: run(answer, call, seed), **options)


def test_full_marks_and_plain_floats():
    report = judged(lambda x: x + x)
    assert (report.score, report.points) == (4.0, 4.0)
    assert type(report.score) is type(report.points) is float
    assert all(type(o.points) is type(o.earned) is float for o in report.outcomes)
    assert report.diagnoses == ()


def test_a_misconception_is_named():
    report = judged(lambda x: x**2)
    assert report.diagnoses == ("squared",)
    failed = [o for o in report.outcomes if o.status == "failed"]
    assert failed and {o.diagnosis for o in failed} == {"squared"}
    assert report.explanations == {"squared": ("You square.", "a#b")}
    assert report.score == 0.0  # that the argument is unchanged earns nothing while the result is wrong


def test_a_largest_difference_is_told_of_numbers_and_not_of_truths():
    assert "The largest difference is" in judged(lambda x: x * 3).outcomes[0].message
    mask = judge(lambda size: torch.ones(size, size, dtype=torch.bool), exercise="causal_mask").outcomes[0].message
    assert "of the values" in mask and "largest difference" not in mask


def test_an_unknown_mistake_is_not_given_a_name():
    assert judged(lambda x: x * 3).diagnoses == ()


def halves() -> Exercise:
    """Its second value is a pair, as a cache of keys and values is, and so is its second argument."""
    exercise = Exercise("halves", "00_test", lambda x, pair: (x, (x[:1], pair[1])),
                        lambda given: Call((given.normal(2, 3), (given.normal(3), given.normal(1, 3)))),
                        returns=("x", "pair"), hints=("h",))
    add_standard_criteria(exercise, values=2, arguments_unchanged=1)
    return exercise


@pytest.mark.parametrize("answer, message", [
    (lambda x, pair: x, "Your code should return 2 values (x, pair); it returned a tensor."),
    (lambda x, pair: (x, *pair), "Your code should return 2 values (x, pair); it returned 3."),
    (lambda x, pair: (x, x), "`pair` should have 2 values; yours is a tensor."),
    (lambda x, pair: (x, (x,)), "`pair` should have 2 values; yours has 1."),
    (lambda x, pair: (x, (x[:1], None)), "`pair[1]` is None."),
    (lambda x, pair: (x, (x, pair[1])), "`pair[0]` should have the shape (1, 3); yours has (2, 3)."),
    (lambda x, pair: (x, (x[:1], pair[1].double())), "`pair[1]` should be torch.float32, like the input; "
                                                     "yours is torch.float64."),
])
def test_a_tuple_in_a_tuple_is_held_against_the_right_form_part_by_part(answer, message):
    outcomes = judged(answer, halves()).outcomes
    assert outcomes[0].message == f"{message} Called with `x` (2, 3)."
    assert {o.status for o in outcomes[1:]} == {"not_looked_at"}


@pytest.mark.parametrize("exercise, answer, told", [
    ("additive_scores", lambda state, encoder_states, W_s, W_h, v: state @ encoder_states,
     "Called with `state` (2, 11), `encoder_states` (2, 7, 13), `W_s` (17, 11), `W_h` (17, 13), `v` (17,)."),
    ("path_length", lambda kind, n, kernel=3: None, "Called with `kind` 'attention', `n` 39."),
    ("PositionalEncoding", type("PositionalEncoding", (torch.nn.Module,), {"forward": None}),
     "Constructed with `d_model` 22, `max_len` 47. Called with `x` (2, 5, 22)."),
])
def test_a_wrong_form_is_told_with_what_was_asked_but_not_of_a_secret_seed(exercise, answer, told):
    assert judge(answer, exercise=exercise).outcomes[0].message.endswith(told)
    assert all("alled with" not in o.message for o in judge(answer, seed=3, exercise=exercise).outcomes)


def test_of_a_tuple_in_a_tuple_the_wrong_part_is_named_and_shown():
    assert judged(lambda x, pair: (x, (x[:1], pair[1])), halves()).score == 3
    outcome = judged(lambda x, pair: (x, (x[:1], pair[1] + 1)), halves()).outcomes[0]
    assert outcome.message == "All values of `pair[1]` differ from the right ones. The largest difference is 1."
    assert outcome.example.arguments.keys() == {"x", "pair[0]", "pair[1]"} == outcome.example.results.keys()


def test_a_tensor_changed_in_a_tuple_of_them_is_a_changed_argument():
    report = judged(lambda x, pair: (x, (x[:1], pair[1].add_(1).sub(1))), halves())
    assert statuses(report) == {"values": "passed", "arguments_unchanged": "failed"}
    assert "`pair`" in report.outcomes[1].message


@pytest.mark.parametrize("answer, words", [
    (lambda x: None, "None"), (lambda x: (x * 2).tolist(), "tensor"), (lambda x: (x * 2, x), "tensor"),
    (lambda x: x[:1] * 2, "shape"), (lambda x: (x * 2).half(), "torch.float16"), (lambda x: x * float("nan"), "NaN"),
    (lambda x: 1 / 0, "ZeroDivisionError"), (lambda: 1, "TypeError"), (lambda x: object(), "object"),
])
def test_what_is_no_answer_is_told_once_and_nothing_else_is_said_not_to_hold(answer, words):
    report = judged(answer)
    first, *others = report.outcomes
    assert first.status == "failed" and words in first.message and report.score == 0.0
    assert all(o.status == "not_looked_at" or (o.status == "failed" and words in o.message) for o in others)
    assert statuses(report)["arguments_unchanged"] == "not_looked_at"


def test_a_stub_is_not_attempted():
    def doubled(x):
        raise NotImplementedError("write your answer here")

    report = judged(doubled)
    assert {(o.status, o.message) for o in report.outcomes} == {("failed", NOT_ATTEMPTED)}
    assert not report.attempted and report.diagnoses == ()


def test_a_time_out_is_for_a_person_and_is_paid_once():
    calls = []

    def answer(call, seed):
        calls.append(call)
        return Reply("timed_out")

    report = judge_answer(doubling(), answer)
    assert set(statuses(report).values()) == {"could_not_run"}
    assert "person" in report.outcomes[0].message and report.needs_a_person
    assert len(calls) == 1 and report.score == 0.0


def test_a_dead_process_is_for_a_person():
    report = judge_answer(doubling(), lambda call, seed: Reply("died"))
    assert set(statuses(report).values()) == {"could_not_run"}


def test_a_bug_of_ours_never_looks_like_a_wrong_answer():
    exercise = doubling()

    @exercise.criterion(points=1)
    def broken(trial):
        """This one has a bug."""
        return 1 / 0

    report = judged(lambda x: x * 2, exercise)
    assert statuses(report)["broken"] == "could_not_run"
    assert "fault of the course" in report.outcomes[-1].message
    assert report.score == 4.0  # the other criteria still count


def test_only_the_edited_argument_is_blamed():
    report = judged(lambda x: x.mul_(2))
    assert statuses(report)["values"] == "passed"
    assert statuses(report)["arguments_unchanged"] == "failed"


def test_a_failing_library_guard_costs_one_criterion():
    report = judge(lambda s: torch.softmax(s, -1), exercise="attention_weights")
    assert [name for name, status in statuses(report).items() if status == "failed"] == ["values"]
    assert report.outcomes[0].points >= report.points / 2


SECRETS = (3, 4711, 2**40)


@pytest.mark.parametrize("seed", SECRETS)
def test_a_secret_seed_shows_no_values(seed):
    def attention_weights(scores):
        print("leak", scores)
        raise ValueError(str(scores.flatten()[0].item()))

    report = judge(attention_weights, seed=seed)
    assert report.printed == "" and all(o.example is None for o in report.outcomes)
    assert all(not any(c.isdigit() for c in o.message) for o in report.outcomes)
    assert "leak" in judge(attention_weights).printed


def test_a_secret_seed_hides_the_name_of_an_exception_class():
    def attention_weights(scores):
        raise type(f"E{scores.flatten()[0].item()}".replace(".", "_"), (Exception,), {})

    assert judge(attention_weights, seed=5).outcomes[0].message == "Your code raised an exception."


def test_the_public_seed_shows_a_small_counter_example():
    report = judge(lambda s: s, exercise="attention_weights")
    example = report.outcomes[0].example
    assert example.arguments["scores"].numel() <= 12
    assert judge(lambda s: s, exercise="attention_weights", seed=PUBLIC_SEED).outcomes[0].example is None


def test_the_same_seed_gives_the_same_report_and_draws_nothing_from_torch():
    before = torch.get_rng_state()
    first, second = (judge(attention.SelfAttention, seed=8) for _ in range(2))
    assert first == second
    assert torch.equal(before, torch.get_rng_state())


def test_two_mistakes_at_once_are_diagnosed_where_one_stands_alone():
    def attention_weights(scores):  # the wrong axis for a batch, and it overflows
        return scores.exp() / scores.exp().sum(1, keepdim=True)

    report = judge(attention_weights)
    assert report.diagnoses == ("softmax_over_queries",)
    assert {o.criterion: o.diagnosis for o in report.outcomes}["any_leading_axes"] is None


def test_an_unknown_name_lists_the_nearest():
    def attention_weight(scores):
        return scores

    with pytest.raises(LookupError, match="attention_weights"):
        judge(attention_weight)
    with pytest.raises(LookupError, match="exercise="):
        judge(object())
    assert find_exercise("SelfAttention").name == "SelfAttention"


def test_points_are_whole_or_half():
    for exercise in all_exercises().values():
        assert all(criterion.points * 2 == int(criterion.points * 2) > 0 for criterion in exercise.criteria)


def test_judge_in_the_package_is_the_judge():
    assert judge is judging.judge


def test_a_wrong_result_is_told_once_and_the_other_criteria_wait():
    report = judged(lambda x: x * 3)
    assert statuses(report) == {"values": "failed", "gradients": "not_looked_at", "double_precision": "not_looked_at",
                                "arguments_unchanged": "not_looked_at"}
    assert {outcome.message for outcome in report.outcomes[1:]} == {RESULT_FIRST} and report.score == 0.0


def test_a_mistake_is_named_for_the_criteria_that_wait_too():
    report = judged(lambda x: x**2)
    assert {outcome.diagnosis for outcome in report.outcomes} == {"squared"}


def test_nothing_waits_where_the_result_is_right():
    def doubled(x):
        return x * 2 if x.dtype == torch.float32 else x * 3

    assert statuses(judged(doubled))["double_precision"] == "failed"


def test_a_question_of_the_criterion_itself_never_waits():
    exercise = doubling()

    @exercise.criterion(points=1)
    def of_zero(trial):
        """Zero stays zero."""
        trial.must_agree(Call((torch.zeros(2),)))

    assert statuses(judged(lambda x: x * 2 + 1, exercise))["of_zero"] == "failed"


def test_what_has_to_be_right_beforehand_is_not_the_criterions_own():
    exercise = doubling()

    @exercise.criterion(points=1)
    def of_four(trial):
        """Two makes four, and three makes six."""
        with trial.beforehand():
            trial.must_agree(Call((torch.tensor([2.0]),)))
        trial.must_agree(Call((torch.tensor([3.0]),)))

    assert statuses(judged(lambda x: x * 3, exercise))["of_four"] == "not_looked_at"
    assert statuses(judged(lambda x: x**2, exercise))["of_four"] == "failed"


WRONG_FORMS = {
    "a list": lambda result: [result], "a string": str, "another number": lambda result: (result, result),
    "another dtype": lambda result: result.float() if torch.is_tensor(result) else complex(result),
    "too little": lambda result: result[:1] if torch.is_tensor(result) else None,
}


@pytest.mark.parametrize("change", WRONG_FORMS.values(), ids=WRONG_FORMS)
@pytest.mark.parametrize("reference, criterion", [(training.beam_search, "the_state_is_left_alone"),
                                                  (training.noam_learning_rate, "step_zero")])
def test_a_wrong_form_is_not_told_of_what_waits_for_the_right_one(reference, criterion, change):
    report = judge(lambda *args: change(reference(*args)), exercise=reference.__name__)
    assert report.outcomes[0].status == "failed" and report.score == 0.0
    assert {o.message for o in report.outcomes if o.criterion == criterion} == {RESULT_FIRST}
