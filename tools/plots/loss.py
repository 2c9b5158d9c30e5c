import re

figure, axes = plt.subplots(figsize=(6, 3))
for name, printed, style in [
    ("FP32", printed_train_fp32, {"color": "#5a86cc", "marker": "s", "linewidth": 5, "alpha": 0.6}),
    ("FP16, autocast and scaler", printed_train, {"color": "#2f8f83", "marker": "o"}),
]:
    found = re.findall(r"step +(\d+): loss ([\d.]+)", printed.stdout)
    steps, losses = [int(step) for step, _ in found], [float(loss) for _, loss in found]
    axes.semilogy(steps, losses, label=name, **style)
axes.set(xlabel="step", ylabel="loss")
axes.grid(alpha=0.3)
axes.legend()
show(figure, "The loss by step, in FP32 and in mixed precision")
