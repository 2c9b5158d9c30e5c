import re

figure, axes = plt.subplots(figsize=(6, 3))
for name, printed, style in [
    ("one process", printed_single, {"color": "#5a86cc", "marker": "s"}),
    ("two ranks", printed_train, {"color": "#2f8f83", "marker": "o"}),
]:
    found = re.findall(r"epoch +(\d+): loss ([\d.]+)", printed.stdout)
    epochs, losses = [int(epoch) for epoch, _ in found], [float(loss) for _, loss in found]
    axes.semilogy(epochs, losses, label=name, **style)
axes.set(xlabel="epoch", ylabel="loss")
axes.grid(alpha=0.3)
axes.legend()
show(figure, "The loss by epoch, on one process and on two ranks")
