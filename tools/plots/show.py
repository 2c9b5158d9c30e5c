# What the plots below need: SVG in the colors and the font of the page around it.
import io
import re

import matplotlib.pyplot as plt
from IPython.display import SVG, display

plt.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "plot", "legend.frameon": False}


def show(figure, title):
    """Show a figure; the title is for those who can't see it."""
    file, nothing = io.StringIO(), dict.fromkeys(["Creator", "Date", "Format", "Type"])
    figure.savefig(file, format="svg", transparent=True, metadata=nothing, bbox_inches="tight")
    plt.close(figure)
    svg = file.getvalue().partition("<svg")[2].replace("#000000", "currentColor")
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    display(SVG(f'<svg role="img" aria-label="{title}" fill="currentColor"{svg}'))
