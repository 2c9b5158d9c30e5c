"""The claims about DataParallel's wrong programs: how large the damage is, that each cure cures.

That a program shows its symptom is checked by its ``.out``. Here the smallest change that the
lesson recommends is made to the program's text, and the symptom must be gone. Where a program
does by hand what DataParallel does on two GPUs, DataParallel's own code is made to show the same
symptom (fixture `gpus`).
"""

import pytest
import torch
from torch import nn

from tests.snippets.test_data_parallel import gpus, in_a_folder_of_its_own, one_thread

__all__ = ["gpus", "in_a_folder_of_its_own", "one_thread"]


# Errors


def test_a_named_weight_cures_stop_iteration(cured):
    change = ("next(self.parameters()).dtype", "self.scale.dtype")
    printed = cured("data-parallel/wrong/stop_iteration.py", change)
    assert printed.splitlines() == ["the model: torch.float32", "a replica: torch.float32"]


def test_data_parallel_says_stop_iteration_in_replica_0(program, gpus):
    model = program("data-parallel/wrong/stop_iteration.py")["model"]
    with pytest.raises(RuntimeError, match="Caught StopIteration in replica 0 on device 0"):
        try:
            gpus(model, 2)(torch.ones(4, 2))
        except StopIteration as error:  # pytest cannot expect this one
            raise RuntimeError(str(error)) from error


def test_the_mean_cures_the_vector_loss(cured):
    printed = cured(
        "data-parallel/wrong/vector_loss.py",
        ("loss.backward()", "loss.mean().backward()"),
        then="print(model.weight.grad.shape)\n",
    )
    assert printed == "loss: (2,)\ntorch.Size([2, 2])\n"


def test_the_sum_of_the_gpus_means_is_as_many_times_too_large_as_there_are_gpus(cured):
    mean, total = (
        float(
            cured(
                "data-parallel/wrong/vector_loss.py",
                ("model = nn", "torch.manual_seed(0)\nmodel = nn"),
                ("loss.backward()", f"loss.{how}().backward()"),
                then="print(model.weight.grad.norm().item())\n",
            ).split()[-1]
        )
        for how in ("mean", "sum")
    )
    assert total == pytest.approx(2 * mean)


def test_data_parallel_gathers_such_losses_into_a_vector(gpus):
    class WithLoss(nn.Linear):
        def forward(self, inputs):
            return super().forward(inputs).pow(2).mean()

    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        gpus(WithLoss(2, 2), 2)(torch.ones(8, 2)).backward()


def test_saving_the_model_cures_the_prefix(cured):
    change = ("parallel.state_dict()", "parallel.module.state_dict()")
    assert (
        cured("data-parallel/wrong/module_prefix.py", change, then="print('loaded')\n")
        == "loaded\n"
    )


def test_consuming_the_prefix_cures_a_file_that_has_it(cured):
    printed = cured(
        "data-parallel/wrong/module_prefix.py",
        (
            'model.load_state_dict(torch.load("model.pt", map_location="cpu"))',
            'saved = torch.load("model.pt", map_location="cpu")\n'
            'nn.modules.utils.consume_prefix_in_state_dict_if_present(saved, "module.")\n'
            "print(model.load_state_dict(saved))",
        ),
    )
    assert printed == "<All keys matched successfully>\n"


def test_the_other_way_round_the_wrapper_misses_the_prefix():
    parallel = nn.DataParallel(nn.Linear(2, 2))
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "module.weight"'):
        parallel.load_state_dict(nn.Linear(2, 2).state_dict())
    parallel.module.load_state_dict(nn.Linear(2, 2).state_dict())


def test_module_cures_the_missing_attribute(cured):
    printed = cured(
        "data-parallel/wrong/no_attribute.py",
        ("parallel.weight", "parallel.module.weight"),
        then="print([weight.requires_grad for weight in parallel.parameters()])\n",
    )
    assert printed == "[False, True]\n"


def test_calling_module_uses_one_gpu(gpus):
    rows = []

    class Model(nn.Linear):
        def forward(self, inputs):
            rows.append(len(inputs))
            return super().forward(inputs)

    parallel = gpus(Model(2, 2), 2)
    parallel.module(torch.ones(8, 2))
    assert rows == [8]
    parallel(torch.ones(8, 2))
    assert rows == [8, 4, 4]


def test_a_model_that_stays_on_the_first_gpu_passes_the_check(cured):
    printed = cured(
        "data-parallel/wrong/wrong_device.py",
        ("model.cpu()", "pass"),
        ('[0, 1], torch.device("cuda:0")', "[0], model.weight.device"),
        ("parallel(torch.ones(8, 2))", "parallel.scatter = lambda inputs, kwargs, ids: ((inputs,),"
         " ({},))\nprint(len(parallel(torch.ones(8, 2))))"),
    )  # fmt: skip
    assert printed.splitlines()[-1] == "8"


def test_a_buffer_goes_to_each_gpu(cured):
    printed = cured(
        "data-parallel/wrong/plain_attribute.py",
        (
            'self.shift = torch.ones(2, device="cuda:0")',
            'self.register_buffer("shift", torch.ones(2, device="cuda:0"))',
        ),
    )
    assert printed == "chunk: cuda:1  shift: cuda:1\n"


def test_a_tensor_made_on_the_device_of_the_input_is_on_each_gpu(cured):
    printed = cured(
        "data-parallel/wrong/plain_attribute.py",
        ("return inputs + self.shift", "return inputs + torch.ones(2, device=inputs.device)"),
    )
    assert printed.startswith("chunk: cuda:1")


def test_dropping_the_last_batch_cures_the_chunk_of_one_sample(cured):
    change = ("torch.randn(3, 4", "torch.randn(4, 4")
    assert cured("data-parallel/wrong/one_sample.py", change) == "chunk: 2\nchunk: 2\n"
    loader = torch.utils.data.DataLoader(range(11), batch_size=4, drop_last=True)
    assert [len(batch) for batch in loader] == [4, 4]


def test_data_parallel_meets_the_chunk_of_one_sample(gpus):
    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        gpus(nn.BatchNorm1d(4), 2)(torch.randn(3, 4))


def test_a_row_for_each_sample_cures_the_lost_half(cured):
    printed = cured("data-parallel/wrong/lost_half.py", ("torch.ones(1, 4, device=device)",
                                  "torch.ones(1, 4, device=device).expand(8, 4)"))  # fmt: skip
    assert printed == "chunks that are computed: 2\n"


def test_a_tensor_of_lengths_is_split_with_the_batch(cured):
    printed = cured(
        "data-parallel/wrong/list_whole.py",
        ("lengths = [5, 4, 3, 2]", "lengths = torch.tensor([5, 4, 3, 2])"),
        ("nn.parallel.scatter(lengths, [0, 1])", "lengths.chunk(2)"),
    )
    assert printed == "for GPU 0: tensor([5, 4])  for GPU 1: tensor([3, 2])\n"


def test_data_parallel_hands_each_gpu_the_whole_list(gpus):
    class Packing(nn.Linear):
        def forward(self, sequences, lengths):
            return nn.utils.rnn.pack_padded_sequence(sequences, lengths, batch_first=True)

    with pytest.raises(RuntimeError, match=r"got 4 \(batch_size=2\)"):
        gpus(Packing(2, 2), 2)(torch.ones(4, 5, 2), [5, 4, 3, 2])


def test_a_hidden_state_with_the_batch_first_is_split_with_it(cured):
    printed = cured(
        "data-parallel/wrong/hidden_state.py",
        ("torch.zeros(2, 6, 8, device=device)", "torch.zeros(6, 2, 8, device=device)"),
        ("model(chunk, state)", "print(model(chunk, state.transpose(0, 1).contiguous())[0].shape)"),
    )
    assert printed == "torch.Size([3, 5, 8])\n" * 2


def test_data_parallel_splits_the_layers_of_a_hidden_state(gpus):
    model = nn.GRU(4, 8, num_layers=2, batch_first=True)
    with pytest.raises(RuntimeError, match=r"Expected hidden size \(2, 3, 8\), got \[1, 6, 8\]"):
        gpus(model, 2)(torch.ones(6, 5, 4), torch.zeros(2, 6, 8))


def test_a_tensor_in_place_of_a_number_can_be_gathered(gpus):
    class WithLoss(nn.Linear):
        def forward(self, inputs):
            return inputs.pow(2).mean()

    assert gpus(WithLoss(2, 2), 2)(torch.ones(8, 2)).tolist() == [1, 1]

    class WithNumber(WithLoss):
        def forward(self, inputs):
            return super().forward(inputs).item()

    with pytest.raises(TypeError, match="'float' object is not iterable"):
        gpus(WithNumber(2, 2), 2)(torch.ones(8, 2))


def test_the_same_keys_from_each_gpu_can_be_gathered(cured):
    printed = cured(
        "data-parallel/wrong/different_keys.py",
        ('if inputs.max() > 5:\n            outputs["warning"] = None',
         'outputs["warning"] = None'),
        then="print(nn.parallel.gather(outputs, target_device=0))\n",
    )  # fmt: skip
    assert printed.splitlines()[-1] == "{'logits': None, 'warning': None}"


# Silent ones


def test_counting_outside_of_forward_cures_the_counter(cured):
    printed = cured(
        "data-parallel/wrong/counter.py",
        ("        self.step += 1\n", ""),
        ("    replicas =", "    model.step += 1\n    replicas ="),
    )
    assert printed == "step  : 20\nfactor: 1.0\n"


def test_data_parallel_loses_the_counter(program, gpus):
    model = program("data-parallel/wrong/counter.py")["Warmup"]()
    model.weight = nn.Parameter(torch.ones(1))
    parallel = gpus(model, 2)
    for _ in range(20):
        output = parallel(torch.ones(8, 2))
    assert model.step == 0
    assert output[0, 0].item() == pytest.approx(0.1)


def test_one_value_a_sample_cures_the_mean_of_means(cured):
    printed = cured(
        "data-parallel/wrong/mean_of_means.py",
        ("means = [model(chunk).mean() for", "values = [model(chunk) for"),
        ("torch.stack(means)", "torch.cat(values)"),
    )
    _, first, last = printed.splitlines()
    assert first.split()[-1] == last.split()[-1] == "0.0769"  # 1/13


def test_the_sample_in_a_chunk_of_its_own_counts_four_times(program):
    sample = program("data-parallel/wrong/mean_of_means.py")["weights"]
    assert (sample[-1] / sample[0]).item() == pytest.approx(4)


def test_autocast_in_the_replica_has_the_format_that_was_asked_for(cured):
    printed = cured(
        "data-parallel/wrong/autocast_outside.py",
        (
            'torch.set_autocast_enabled("cuda", enabled)  # DataParallel hands this on',
            'torch.set_autocast_enabled("cuda", True)\n'
            '    torch.set_autocast_dtype("cuda", torch.bfloat16)',
        ),
        then='print(torch.is_autocast_enabled("cuda"))\n',
    )
    assert printed.splitlines()[1:] == ["replica's thread: torch.bfloat16", "False"]


def test_the_program_waits_for_a_replica_that_is_slow(cured):
    printed = cured(
        "data-parallel/wrong/autocast_outside.py",
        ("def replica():\n", "def replica():\n    threading.Event().wait(0.2)\n"),
        then="print(thread.is_alive())\n",
    )
    assert printed.splitlines()[1:] == ["replica's thread: torch.float16", "False"]
