import re

found = re.findall(r"epoch +(\d+): loss ([\d.]+)", printed_train.stdout)
epochs, losses = [int(epoch) for epoch, _ in found], [float(loss) for _, loss in found]
figure, axes = plt.subplots(figsize=(6, 3))
axes.semilogy(epochs, losses, marker="o", color="#2f8f83")
axes.set(xlabel="epoch", ylabel="loss")
axes.grid(alpha=0.3)
show(figure, "The loss by epoch")
