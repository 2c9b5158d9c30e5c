"""Run a program as if on CUDA, on any machine, and note the format of each operation's result.

Fake tensors have a device, a shape and a format but no values; torch computes with them which
format each operation gives, by CUDA's own autocast rules. So a whole program runs on a ``cuda``
that is not there. Where it asks for a value it gets 1; gradients are filled in as zeros of the
weights' format, because the backward pass needs the real device.
"""

from __future__ import annotations

import contextlib
import io
import os
from dataclasses import dataclass

from tests.snippets import runner
from tools.snippets import Snippet


@dataclass(frozen=True)
class Call:
    """An operation inside an autocast region for CUDA: its name and formats."""

    name: str
    inputs: tuple[str, ...]
    result: str
    autocast: str


def _tensors(value, kind) -> list:
    if isinstance(value, kind):
        return [value]
    if isinstance(value, list | tuple):
        return [t for item in value for t in _tensors(item, kind)]
    return []


def _recorder(calls: list, weights: list):
    """A mode that appends each call with floating-point tensors to `calls`, leaves to `weights`."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Recorder(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            wants_gradient = kwargs.pop("requires_grad", False)
            result = function(*args, **kwargs)
            if wants_gradient:
                weights.append(result)
            if not torch.is_autocast_enabled("cuda"):
                return result
            given = _tensors([*args, *kwargs.values()], torch.Tensor)
            made = _tensors(result, torch.Tensor)
            formats = [t.dtype for t in given if t.is_floating_point() and t.is_cuda]
            name = function.__name__
            in_place = name.endswith("_") and not name.endswith("__")  # never autocast
            if formats and made and made[0].is_floating_point() and not in_place:
                calls.append(
                    Call(
                        name.strip("_"),
                        tuple(str(f).removeprefix("torch.") for f in formats),
                        str(made[0].dtype).removeprefix("torch."),
                        str(torch.get_autocast_dtype("cuda")).removeprefix("torch."),
                    )
                )
            return result

    return Recorder()


def _pretend(weights: list) -> None:
    """Make torch say that it has CUDA, and give 1 for each value that a fake tensor lacks.

    `weights` collects the tensors that a backward pass gives gradients to.
    """
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    cuda = torch.device("cuda", 0)  # with an index: torch would look the current one up
    torch.accelerator.current_accelerator = lambda check_available=False: cuda
    torch.accelerator.synchronize = lambda *_: None
    torch.cuda.is_bf16_supported = lambda *_, **__: True
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False

    def item(tensor):
        one = 1.0 if tensor.is_floating_point() else 1
        return bool(one) if tensor.dtype == torch.bool else one

    def backward(tensor, *_, **__):
        for weight in weights:
            weight.grad = torch.zeros_like(weight)

    def grad(outputs, inputs, *_, **__):
        inputs = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
        return tuple(torch.zeros_like(t).requires_grad_() for t in inputs)

    def step(scaler, optimizer, state, *args, **kwargs):
        return optimizer.step(*args, **kwargs)

    def values(tensor):
        return torch.utils._pytree.tree_map(lambda _: item(tensor), [0] * max(1, tensor.numel()))

    parameter = torch.nn.Parameter.__new__

    def weight(cls, data=None, requires_grad=True):
        weights.append(parameter(cls, data, False))
        return weights[-1]

    torch.nn.Parameter.__new__ = weight

    def apply(module, function, recurse=True):
        # torch's own exchanges tensors in place, which fake ones do not allow.
        for child in module.children():
            child._apply(function)
        for name, value in module._parameters.items():
            if value is not None:
                module._parameters[name] = torch.nn.Parameter(function(value))
        for name, value in module._buffers.items():
            if value is not None:
                module._buffers[name] = function(value)
        return module

    torch.nn.Module._apply = apply

    def requires_grad_(tensor, requires_grad=True):
        weights.append(tensor)
        return tensor

    select = torch.Tensor.__getitem__

    def getitem(tensor, index):
        if not tensor.is_cuda:
            return select(tensor, index)
        shape = select(torch.empty(tensor.shape, device="meta"), index).shape
        return torch.empty(shape, dtype=tensor.dtype, device=tensor.device)

    torch.Tensor.requires_grad_ = requires_grad_
    torch.Tensor.__getitem__ = getitem

    for kind in (torch.Tensor, FakeTensor):
        kind.item = item
        kind.tolist = values
        kind.__bool__ = lambda tensor: bool(item(tensor))
        kind.__float__ = lambda tensor: float(item(tensor))
        kind.__int__ = lambda tensor: int(item(tensor))
        kind.__index__ = kind.__int__
        kind.__format__ = lambda tensor, spec: format(item(tensor), spec)
        kind.backward = backward
    torch.autograd.grad = grad
    torch.equal = torch.Tensor.equal = lambda *_: True
    # The graph of a backward pass needs the device itself.
    torch.set_grad_enabled(False)
    torch.amp.GradScaler._maybe_opt_step = step
    torch.optim.Optimizer._accelerator_graph_capture_health_check = lambda optimizer: None


def _few(*limits: int) -> range:
    """The first rounds of a long loop: later ones have no other formats, fake tensors are slow."""
    rounds = range(*limits)
    return rounds if len(rounds) <= 20 else rounds[:3]


def _child(snippet: Snippet, answer) -> None:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    calls: list[Call] = []
    weights: list = []
    _pretend(weights)
    recorder = _recorder(calls, weights)
    with contextlib.redirect_stdout(io.StringIO()), FakeTensorMode(), recorder:
        error = runner.execute(snippet, range=_few).exception
    if error is not None and type(error).__name__ == snippet.lesson["raises"]:
        error = None
    answer.send((calls, error and runner.last_line(error).split("\n")[0]))
    answer.close()
    os._exit(0)


def run(snippet: Snippet, limit: float = 60) -> tuple[list[Call], str | None]:
    """Return the calls that `snippet` makes under CUDA's autocast, and the error that ended it."""
    warm = runner.context()
    receiver, sender = warm.Pipe(duplex=False)
    child = warm.Process(target=_child, args=(snippet, sender))
    child.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            return [], f"did not end within {limit} s"
        return receiver.recv()
    except EOFError:
        return [], "the process died"
    finally:
        receiver.close()
        child.kill()
        child.join()
