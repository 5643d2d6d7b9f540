"""Carries out one `Call` on the learner's object and reports what happened as a `Reply`.

It never judges, and it never lets the learner's code disturb the notebook: output is captured up to a limit,
warnings are swallowed, the random state, the default dtype and the gradient mode are put back.
"""

import contextlib
import copy
import dis
import importlib
import io
import linecache
import operator
import signal
import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import torch

from autograder.learner.calls import PATIENCE, Call, CodeError, Opaque, Reply, Seed, Table, tensors_in
from autograder.learner.guard import Watch
from autograder.learner.memory import Largest
from autograder.learner.models import TableDecoder
from autograder.learner.substitute import with_substitute

PRINTED_LIMIT = 2_000
LIBRARIES = (str(Path(torch.__file__).parent), str(Path(__file__).parent))


class TimeUp(BaseException):
    """The call's time is over; not an Exception, so that an answer's `except Exception` does not swallow it."""


class Overheard(io.TextIOBase):
    """A text stream that keeps the beginning of what is written and forgets the rest."""

    def __init__(self):
        self.text = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text[: PRINTED_LIMIT - len(self.text)]
        return len(text)


def run(learner_object: Any, call: Call, rng_seed: int = 0) -> Reply:
    """Carry out `call` on the learner's function or class.

    rng_seed: seeds torch's global generator for the time of the call (initial weights, dropout).
    """
    if call.cotangents is not None:
        # torch loads this at a process's first gradient: seconds on a busy machine, which are not the answer's.
        importlib.import_module("torch.fx.experimental.symbolic_shapes")
    overheard = Overheard()
    with _quiet(overheard), _torch_state_kept(rng_seed):
        try:
            with _time_limit(call.seconds):
                reply = _carry_out(learner_object, call)
        except TimeUp:
            reply = Reply("timed_out")
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too: an answer must not end the grader
            reply = _raised(error, learner_object)
    reply.printed = overheard.text
    return reply


def _carry_out(learner_object: Any, call: Call) -> Reply:
    module = _build(learner_object, call) if call.init is not None else None
    args = [_argument(value, call) for value in call.args]
    before = [_snapshot(value) for value in args]
    target = learner_object if module is None else module
    largest = Largest()
    with Watch(call.watch) as watch, largest if call.measured else contextlib.nullcontext():
        output = (operator.attrgetter(call.part)(target) if call.part else target)(*args)
    reply = Reply("returned", output=_data(output), used=tuple(sorted(watch.used)), largest=largest.elements)
    reply.changed = tuple(i for i, value in enumerate(args) if _differs(value, before[i]))
    named = dict(module.named_parameters()) if isinstance(module, torch.nn.Module) else {}
    reply.parameters = {name: tuple(value.shape) for name, value in named.items()}
    if isinstance(module, torch.nn.Module):
        reply.buffers = {name: tuple(value.shape) for name, value in module.named_buffers()}
    if call.cotangents is not None:
        leaves = [value for value in args if isinstance(value, torch.Tensor)]
        found = _gradients(output, call.cotangents, leaves + list(named.values()))
        reply.gradients = tuple(found[: len(leaves)])
        reply.parameter_gradients = dict(zip(named, found[len(leaves):], strict=True))
    return reply


def _build(learner_class: Any, call: Call) -> Any:
    """Construct the module, bring it to the asked dtype and mode, and copy the weights whose name and shape fit."""
    module = (learner_class(*call.init) if call.substitute is None
              else with_substitute(learner_class, call.init, call.substitute))
    # What dropout draws does not depend on how many numbers the constructor took.
    torch.random.default_generator.manual_seed(torch.random.default_generator.initial_seed())
    if not isinstance(module, torch.nn.Module):
        return module
    module = module.to(call.dtype).train(call.training)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            weight = (call.weights or {}).get(name)
            if weight is not None and weight.shape == parameter.shape:
                parameter.copy_(weight)
    return module


def _argument(value: Any, call: Call) -> Any:
    """A fresh copy of an argument with its memory layout, so that no call sees what another one changed."""
    if isinstance(value, Seed):
        return torch.Generator().manual_seed(value.value)
    if isinstance(value, torch.Tensor):
        fresh = value.detach().clone()
        return fresh.requires_grad_() if call.cotangents is not None and fresh.is_floating_point() else fresh
    if isinstance(value, Table):
        return TableDecoder(value.scores, value.remembers)
    return copy.deepcopy(value)


def _snapshot(value: Any) -> Any:
    """What `_differs` compares with: plain data and tensors; whatever else an argument is, it is not compared."""
    if isinstance(value, tuple):
        return tuple(map(_snapshot, value))
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return copy.deepcopy(value) if isinstance(value, list) else None


def _differs(after: Any, before: Any) -> bool:
    if isinstance(after, tuple):
        return any(map(_differs, after, before))
    if isinstance(after, list):
        return after != before
    if not isinstance(after, torch.Tensor):
        return False
    return after.shape != before.shape or after.dtype != before.dtype or not torch.equal(after.detach(), before)


def _gradients(output: Any, cotangents: tuple, leaves: list[torch.Tensor]) -> list[torch.Tensor | None]:
    """The gradient of sum(cotangent * output) for each leaf; None where no gradient arrives."""
    outputs = tensors_in(output)
    if [tuple(t.shape) for t in outputs] != [tuple(t.shape) for t in cotangents]:
        return [None] * len(leaves)  # the wrong shape is reported before anyone looks at gradients
    pairs = [(t, c.to(t.dtype)) for t, c in zip(outputs, cotangents, strict=True) if t.requires_grad]
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    if not pairs or not wanted:
        return [None] * len(leaves)
    found = iter(torch.autograd.grad([t for t, _ in pairs], wanted, [c for _, c in pairs], allow_unused=True))
    return [next(found) if leaf.requires_grad else None for leaf in leaves]


def _data(value: Any) -> Any:
    """The plain data in a returned object: tensors are detached copies, unknown objects become `Opaque`."""
    if isinstance(value, torch.Tensor):
        return value.detach().as_subclass(torch.Tensor).clone()
    if isinstance(value, (tuple, list)):
        return tuple(_data(part) for part in value)
    if isinstance(value, dict):
        return {str(key): _data(part) for key, part in value.items()}
    if isinstance(value, float):
        return float(value)  # NumPy's float64 is a float too
    return value if value is None or type(value) in (bool, int, str) else Opaque(type(value).__name__)


def _raised(error: BaseException, learner_object: Any) -> Reply:
    if isinstance(error, NotImplementedError) and _is_raise_statement(error.__traceback__):
        return Reply("not_attempted")
    kind, text = type(error).__name__, str(error)[:500]
    own = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__)
           if not frame.f_code.co_filename.startswith(LIBRARIES)]
    if not own:
        return Reply("raised", error=CodeError(kind, text))
    files = _files_of(learner_object)
    last = max((i for i, (frame, _) in enumerate(own) if frame.f_code.co_filename in files), default=len(own) - 1)
    frame, line = own[last]
    source = linecache.getline(frame.f_code.co_filename, line).strip()
    inside = _owner(own[last + 1][0].f_code.co_qualname) if last + 1 < len(own) else ""
    return Reply("raised", error=CodeError(kind, text, line, source[:200], inside[:80]))


def _files_of(learner_object: Any) -> set[str]:
    """Where the answer stands: in a notebook, its cell. What else it calls may be given code."""
    functions = vars(learner_object).values() if isinstance(learner_object, type) else [learner_object]
    codes = [getattr(getattr(f, "__func__", f), "__code__", None) for f in functions]
    return {code.co_filename for code in codes if code is not None}


def _owner(qualified_name: str) -> str:
    """The class of a method, or the function itself."""
    name = qualified_name.rpartition("<locals>.")[2]
    return name.partition(".")[0]


def _is_raise_statement(tb: Any) -> bool:
    """True where a `raise` outside the libraries raised it; torch has one for a module without `forward`, and raises
    from C++ where it has no kernel."""
    while tb.tb_next is not None:
        tb = tb.tb_next
    code = tb.tb_frame.f_code
    return not code.co_filename.startswith(LIBRARIES) and code.co_code[tb.tb_lasti] == dis.opmap["RAISE_VARARGS"]


@contextlib.contextmanager
def _quiet(overheard: Overheard):
    """Captures prints; nbgrader takes all marks from a check cell that writes to stderr, even a warning."""
    with contextlib.redirect_stdout(overheard), contextlib.redirect_stderr(overheard), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _torch_state_kept(rng_seed: int):
    dtype = torch.get_default_dtype()
    try:
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            # torch.manual_seed also queues the seed for CUDA with the call stack as text, which takes most of the time
            torch.random.default_generator.manual_seed(rng_seed)
            yield
    finally:
        torch.set_default_dtype(dtype)


@contextlib.contextmanager
def _time_limit(seconds: float):
    """Raises TimeUp after `seconds`; only the main thread of a Unix process has the alarm that this needs.

    A machine that is busy with others must not cost marks: who has not had the processor for so long may go on, up to
    PATIENCE times as long on the clock.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    began, used = time.monotonic(), time.process_time()

    def stop(number, frame):
        left = min(seconds - (time.process_time() - used), PATIENCE * seconds - (time.monotonic() - began))
        if left <= 0:
            raise TimeUp
        signal.setitimer(signal.ITIMER_REAL, max(left, 0.05))

    earlier = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)
