"""Where the programs run (``--device``), and ``program``: a program's variables for a claim."""

from __future__ import annotations

import contextlib
import io
import os
import random
from pathlib import Path

import pytest

from tests.snippets import runner
from tools.snippets import SNIPPETS, load

#: A folder to take the programs from instead of ``snippets/`` (the mutants run the claims so).
ROOT = Path(os.environ.get("SNIPPETS_ROOT", SNIPPETS))


def pytest_addoption(parser):
    parser.addoption(
        "--device",
        default="cpu",
        help="the device the programs run on: cpu (the default), cuda, mps, xpu; "
        "a device that is not there fails the session",
    )


def _probe(answer) -> None:
    """Send the class of this machine's accelerator (runs in a child)."""
    import torch

    accelerator = torch.accelerator.current_accelerator(check_available=True)
    answer.send(accelerator.type if accelerator else "cpu")


def _accelerator() -> str:
    """The class of this machine's accelerator, found in a process that may touch it."""
    warm = runner.context()
    receiver, sender = warm.Pipe(duplex=False)
    child = warm.Process(target=_probe, args=(sender,))
    child.start()
    sender.close()
    with contextlib.closing(receiver):
        found = receiver.recv()
    child.join()
    return found


def pytest_configure(config):
    wanted = config.getoption("--device", "cpu")
    if wanted == "cpu":
        runner.hide_accelerators()
    elif not hasattr(config, "workerinput"):  # once, in the process that starts the workers
        found = _accelerator()
        if found != wanted:
            raise pytest.UsageError(
                f"--device {wanted}: torch finds no {wanted} on this machine (it finds {found}); "
                f"run without the option for the CPU, or on a machine with {wanted}"
            )


@pytest.fixture(scope="session")
def device(request) -> str:
    """The class of the device that the programs run on."""
    return request.config.getoption("--device", "cpu")


@contextlib.contextmanager
def _state_restored():
    """Leave torch's global state, and the generators of random numbers, as they were."""
    import torch

    rng, python_rng = torch.get_rng_state(), random.getstate()
    default, threads, grad = (
        torch.get_default_dtype(),
        torch.get_num_threads(),
        torch.is_grad_enabled(),
    )
    precision = torch.backends.cuda.matmul.fp32_precision
    kinds = ("cpu", "cuda")
    autocast = [(k, torch.is_autocast_enabled(k), torch.get_autocast_dtype(k)) for k in kinds]
    cache = torch.is_autocast_cache_enabled()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        for kind, enabled, dtype in autocast:
            torch.set_autocast_enabled(kind, enabled)
            torch.set_autocast_dtype(kind, dtype)
        torch.set_autocast_cache_enabled(cache)
        torch.clear_autocast_cache()
        torch.backends.cuda.matmul.fp32_precision = precision
        torch.set_grad_enabled(grad)
        torch.set_num_threads(threads)
        torch.set_default_dtype(default)
        torch.set_rng_state(rng)
        random.setstate(python_rng)


@pytest.fixture
def program(device):
    """Run a program in this process and return its global variables.

    ``program("amp/clipping.py")`` returns a dict. Beside the program's own names it holds
    ``__stdout__`` (what it printed) and ``__exception__`` (the error that it declares with
    ``raises``, or None). An error that is not declared is raised.
    """
    runner.use_device(device)

    def run(path: str) -> dict:
        snippet = load(path, ROOT)
        printed = io.StringIO()
        with _state_restored(), contextlib.redirect_stdout(printed):
            outcome = runner.execute(snippet)
        error = outcome.exception
        if error is not None and type(error).__name__ != snippet.lesson["raises"]:
            raise error
        return outcome.namespace | {"__stdout__": printed.getvalue(), "__exception__": error}

    return run
