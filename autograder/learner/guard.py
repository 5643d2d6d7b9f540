"""Notices when an answer calls the library function that it is meant to replace.

For torch there are two nets, because each alone has holes. Its function mode sees public functions by name, before
they are taken apart (`F.scaled_dot_product_attention`). Its dispatch mode sees the operators below, whatever spelling
led to them (`torch.softmax`, `x.softmax`, `nn.Softmax`, `F.cross_entropy` all end in `_softmax` or `_log_softmax`).
For sacrebleu there is a third, around its methods.
"""

from collections.abc import Iterable
from contextlib import ExitStack
from unittest.mock import patch

from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

SOFTMAX = {"softmax", "log_softmax", "_softmax", "_log_softmax", "_safe_softmax", "_masked_softmax",
           "_sparse_softmax", "_sparse_log_softmax"}
ATTENTION = {"scaled_dot_product_attention", "multi_head_attention_forward", "_native_multi_head_attention",
             "_transformer_encoder_layer_fwd", "_scaled_dot_product_attention_math",
             "_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_for_cpu",
             "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention", "flex_attention"}

FAMILIES: dict[str, set[str]] = {
    "softmax": SOFTMAX, "attention": ATTENTION, "entr": {"entr", "special_entr"},
    "layer_norm": {"layer_norm", "native_layer_norm", "group_norm", "native_group_norm", "rms_norm", "_fused_rms_norm",
                   "instance_norm", "batch_norm", "native_batch_norm", "_native_batch_norm_legit"},
    "label_smoothing": {"cross_entropy", "cross_entropy_loss"},
    "sacrebleu": {"corpus_score", "sentence_score", "compute_bleu"}}
"""Names of functions and operators, by the family that an exercise can put off limits."""

SPELLINGS = {
    "softmax": "softmax or log_softmax of the library, in any spelling",
    "attention": "`F.scaled_dot_product_attention` or `nn.MultiheadAttention`",
    "entr": "`torch.special.entr`",
    "layer_norm": "`nn.LayerNorm` or `F.layer_norm`, or a norm of the library that does its work",
    "label_smoothing": "`F.cross_entropy` with `label_smoothing`",
    "sacrebleu": "`sacrebleu`",
}
"""How a report names a family to the learner."""


class Watch:
    """A context in which calls into the given families are noted in `used`.

    Raises KeyError for a family that does not exist.
    """

    def __init__(self, families: Iterable[str]):
        self.watched = {name: family for family in families for name in FAMILIES[family]}
        self.used: set[str] = set()

    def note(self, name: str) -> None:
        if name in self.watched:
            self.used.add(self.watched[name])

    def __enter__(self):
        # Entering the modes costs little, yet every operator then passes through Python: only where it is needed.
        families = set(self.watched.values())
        with ExitStack() as stack:
            if families - {"sacrebleu"}:
                stack.enter_context(_Functions(self))
                stack.enter_context(_Operators(self))
            if "sacrebleu" in families:
                _watch_sacrebleu(self, stack)
            self._entered = stack.pop_all()
        return self

    def __exit__(self, *error):
        self._entered.__exit__(*error)


def _watch_sacrebleu(watch: Watch, stack: ExitStack) -> None:
    """Its methods are watched where they are defined, so that functions imported beforehand are seen too."""
    try:
        from sacrebleu.metrics import BLEU
    except ImportError:  # what is not installed cannot be called
        return
    for name in FAMILIES["sacrebleu"]:
        method = getattr(BLEU, name)

        def noted(*args, name=name, method=method, **kwargs):
            watch.note(name)
            return method(*args, **kwargs)

        static = isinstance(BLEU.__dict__.get(name), staticmethod)
        stack.enter_context(patch.object(BLEU, name, staticmethod(noted) if static else noted))


class _Functions(TorchFunctionMode):
    def __init__(self, watch: Watch):
        super().__init__()
        self.watch = watch

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name not in FAMILIES["label_smoothing"] or _smooths(args, kwargs or {}):
            self.watch.note(name)
        return func(*args, **(kwargs or {}))


def _smooths(args: tuple, kwargs: dict) -> bool:
    """Whether these arguments of torch's cross-entropy ask for label smoothing; without it, it may be called."""
    return bool(kwargs.get("label_smoothing", args[5] if len(args) > 5 else 0.0))


class _Operators(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Otherwise the first guarded call loads torch's compiler, a second of work that nothing here uses."""
        return False

    def __init__(self, watch: Watch):
        super().__init__()
        self.watch = watch

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        if name not in FAMILIES["label_smoothing"]:
            self.watch.note(name)
        return func(*args, **(kwargs or {}))
