import re

found = re.findall(r"step +(\d+): scale 2\^(\d+) +(\w+)", printed_scale_path.stdout)
steps, powers = [int(step) for step, _, _ in found], [int(power) for _, power, _ in found]
figure, axes = plt.subplots(figsize=(6, 3))
axes.step(steps, powers, where="mid", color="#85898d")
for what, mark, color in [("stepped", "o", "#2f8f83"), ("skipped", "X", "#c4584a")]:
    here = [n for n, (_, _, happened) in enumerate(found) if happened == what]
    axes.plot(
        [steps[n] for n in here],
        [powers[n] for n in here],
        mark,
        color=color,
        label=what,
        markersize=8,
    )
axes.set(
    xlabel="step",
    ylabel="scale",
    xticks=range(2, len(steps) + 1, 2),
    yticks=range(min(powers), max(powers) + 1),
)
axes.yaxis.set_major_formatter(lambda power, _: f"2^{power:.0f}")
axes.grid(alpha=0.3)
axes.legend()
show(figure, "The scale by step; a skipped step halves it")
