"""The claims of the page "Which one do I need?"."""

import re

import torch
from torch import nn


def rows(text: str) -> list[list[float]]:
    """The numbers of the table that fits.py prints, one list for each row."""
    table = text[text.index("width") :].splitlines()[1:]
    return [[float(n) for n in re.findall(r"\d+(?:\.\d+)?", row)] for row in table]


def test_adam_needs_twice_the_bytes_of_sgd_for_each_parameter(program):
    printed = program("choose/fits.py")["__stdout__"]
    totals = dict(re.findall(r"(\w+) *: .* = (\d+) bytes", printed))
    assert totals == {"SGD": "8", "Adam": "16"}


def test_a_model_on_the_meta_device_has_the_parameters_of_the_real_one(program):
    layer = nn.TransformerEncoderLayer(768, 12, 4 * 768)
    one = sum(p.numel() for p in layer.parameters())
    first = rows(program("choose/fits.py")["__stdout__"])[0]
    assert abs(first[2] * 1e9 - 12 * one) < 0.005e9


def test_the_table_holds_sixteen_bytes_a_parameter_and_an_eighth_of_them(program):
    table = rows(program("choose/fits.py")["__stdout__"])
    assert len(table) == 4
    for width, layers, billions, whole, eighth, *rest in table:
        assert not rest
        parameters = layers * (12 * width**2 + 13 * width)
        assert abs(billions - parameters / 1e9) < 0.006
        assert abs(whole - 16 * parameters / 2**30) < 0.06
        assert abs(eighth - whole / 8) < 0.06


def test_adams_averages_are_as_large_as_the_weights_each():
    model = nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 8)).sum().backward()
    optimizer.step()
    state = optimizer.state[model.weight]
    assert state["exp_avg"].nbytes == state["exp_avg_sq"].nbytes == model.weight.nbytes
