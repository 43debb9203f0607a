"""Draws the course's cover: a sentence, its translation, and the attention of the course's own small translator."""

import torch
from matplotlib import rc_context
from matplotlib.figure import Figure
from torch import Tensor, nn

from course_lib.hooks import record_attention
from course_lib.scenes.small_translator import load_small_translator
from course_lib.show.figures import BLUE, LAID_OUT, ORANGE, Pictured, pictured
from course_lib.text.tokenization import Vocabulary

SENTENCE = "A black cat is sleeping on a chair."

WIDTH, HEIGHT = 6.0, 3.15
"""Inches; 1200 by 630 pixels at the course's resolution, the format of previews in social networks."""

_LEAST = 0.05
"""Weights below this are not drawn."""


def cover() -> Pictured:
    """Draw the picture from what the translator does now."""
    source, target, alpha = _translated()
    with rc_context({**LAID_OUT, "font.size": 15}):
        figure = Figure(figsize=(WIDTH, HEIGHT))
        axes = figure.add_axes((0.03, 0, 0.94, 1))
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.axis("off")
        above, below = _places(source), _places(target)
        way = torch.linspace(0, 1, 50)
        bend, height = (1 - torch.cos(torch.pi * way)) / 2, 0.22 + 0.56 * way
        for row, x in zip(alpha.tolist(), below, strict=True):
            for weight, to in zip(row, above, strict=True):
                if weight > _LEAST:
                    colour = ORANGE if weight == max(row) else BLUE
                    axes.plot(x + (to - x) * bend, height, color=colour, alpha=weight**0.7, linewidth=9 * weight)
        for words, places, y in ((source, above, 0.86), (target, below, 0.14)):
            for word, x in zip(words, places, strict=True):
                axes.text(x, y, word, ha="center", va="center")
    said = f"“{' '.join(source)}” above “{' '.join(target)}”"
    return pictured(figure, f"{said}; lines lead from each German word to the English words that the model looks at.")


@torch.no_grad()
def _translated() -> tuple[list[str], list[str], Tensor]:
    """Return the words of the sentence and of its translation, and, before each word of the translation, the last
    block's cross-attention [target, source], averaged over its heads.
    """
    translator = load_small_translator()
    source = translator.source.encode(SENTENCE)
    target = translator.target.encode(translator.translate([SENTENCE])[0])
    read = [translator.model.config.start_id, *target[:-1]]
    looking = translator.model.decoder[-1].get_submodule("cross_attention")
    with record_attention(nn.ModuleList([looking])) as weights:
        translator.model(torch.tensor([source]), torch.tensor([read]))
    alpha = weights[0][0].mean(dim=0)
    above, below = _of_words(translator.source, source), _of_words(translator.target, target)
    words = alpha @ nn.functional.one_hot(above).float()  # add up the weights of a word's pieces
    rows = nn.functional.one_hot(below).float().T
    return (
        translator.source.decode(source).split(),
        translator.target.decode(target).split(),
        rows @ words / rows.sum(dim=1, keepdim=True),
    )


def _of_words(vocabulary: Vocabulary, ids: list[int]) -> Tensor:
    """Return the number of the word that each piece of a sentence belongs to, from 0."""
    return torch.tensor([len(vocabulary.decode(ids[: place + 1]).split()) - 1 for place in range(len(ids))])


def _places(words: list[str]) -> list[float]:
    """Return the positions of a line's words, from 0 to 1, with equal spaces between them."""
    letters = [len(word) + 2.5 for word in words]
    return [(sum(letters[:place]) + letters[place] / 2) / sum(letters) for place in range(len(words))]
