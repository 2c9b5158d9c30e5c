"""CUDA's autocast rules hold for every operation of the programs, checked without a GPU.

The rules are those of the reference (docs.pytorch.org/docs/stable/amp.html, "CUDA Ops"). Each
program runs on fake CUDA tensors; the format of each result in an autocast region is compared with
the rule of its operation. An operation without a rule fails: look it up and add it.
"""

import pytest

from tests.kept import RUNS
from tests.snippets import fake_cuda
from tests.snippets.conftest import ROOT
from tools.snippets import load, load_all

HALF, FP32, WIDEST = "autocast's format", "float32", "the widest input's format"
RULES = {
    HALF: "linear matmul mm bmm addmm einsum conv1d conv2d prelu scaled_dot_product_attention",
    FP32: "pow exp log sum prod cumsum softmax log_softmax layer_norm group_norm norm rsqrt "
    "reciprocal rtruediv softplus cross_entropy mse_loss l1_loss smooth_l1_loss nll_loss kl_div "
    "binary_cross_entropy_with_logits cosine_similarity normalize",
    # On no list: the operation takes its inputs as they are.
    WIDEST: "add sub mul truediv div cat stack relu gelu sigmoid tanh dropout mean abs max min "
    "masked_fill unsqueeze squeeze reshape view flatten transpose getitem where detach clone "
    "zeros_like argmax",
}
RULE = {name: rule for rule, names in RULES.items() for name in names.split()}
#: Conversions that the program itself asks for, and reading of attributes.
ASKED = {"half", "float", "double", "bfloat16", "to", "get", "type"}
#: Programs that fake tensors can't run to the end, and the error that says so.
EXEMPT = {
    "amp/gradients.py": "it counts the values of gradients",
    "amp/resume.py": "it saves the values of tensors",
    "amp/memory.py": "it asks for the addresses of the tensors' memory",
    "amp/support.py": "it asks the device for its name and abilities",
    "amp/wrong/numpy_bfloat16.py": "it hands a tensor's memory to NumPy",
}
WIDTH = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
#: All that have to do with autocast. Fake tensors can't be sent: of several ranks there is none.
PROGRAMS = [
    s
    for s in load_all(ROOT)
    if "cuda" in s.lesson["devices"]
    and (s.path.startswith("amp/") or "autocast" in s.source)
    and s.lesson["ranks"] == 1
]


def run(path: str):
    snippet = load(path, ROOT)
    given = ["fake cuda", snippet.source, snippet.lesson]
    return RUNS.get(given, lambda: fake_cuda.run(snippet))


def expected(call: fake_cuda.Call) -> str | None:
    """The format that `call` must give on CUDA, None where the program asks for one itself."""
    if call.name in ASKED:
        return None
    rule = RULE.get(call.name)
    assert rule, f"no rule for {call.name!r}: look CUDA's up in torch.amp's reference, add it"
    if "float64" in call.inputs:
        return "float64"  # float64 takes no part in autocast
    if rule == WIDEST:
        return max(call.inputs, key=WIDTH.get)
    return call.autocast if rule == HALF else FP32


@pytest.mark.parametrize("snippet", PROGRAMS, ids=lambda snippet: snippet.path)
def test_formats_are_those_that_cuda_gives(snippet):
    calls, error = run(snippet.path)
    if snippet.path in EXEMPT:
        assert error, f"{snippet.path} runs to its end now: remove it from EXEMPT"
    else:
        assert error is None, f"{snippet.path} can't run on fake tensors: mend it, or add to EXEMPT"
    for call in calls:
        wanted = expected(call)
        assert wanted in (None, call.result), f"{call}: CUDA's rule for it says {wanted}"


def test_exempt_programs_are_there():
    assert not EXEMPT.keys() - {snippet.path for snippet in PROGRAMS}


def test_nothing_is_checked_where_nothing_runs():
    """The loop of the lesson makes the calls that it shows: three products, two ReLUs, a loss."""
    calls, _ = run("amp/train.py")
    assert {c.name for c in calls} >= {"linear", "relu", "cross_entropy"}
    assert {c.autocast for c in calls} == {"float16"}


def test_a_wrong_format_and_an_unknown_operation_are_seen():
    softmax_in_half = fake_cuda.Call("softmax", ("float16",), "float16", "float16")
    assert expected(softmax_in_half) == "float32"
    with pytest.raises(AssertionError, match="no rule for 'fancy'"):
        expected(fake_cuda.Call("fancy", ("float16",), "float16", "float16"))
