"""Makes the small BERT that comes with the course: a BERT of three layers, trained on the small world.

    python -m course_lib.toys.small_bert FOLDER

It is pre-trained as BERT was, on masked tokens and on next sentences (Devlin et al., 2019, section 3.1), in under ten
minutes on a processor. This command made the files in `SMALL_BERT`. On another machine the weights come out slightly
different, since sums are rounded in another order, but just as good.
"""

import random
import string
import sys
from pathlib import Path

import torch
from torch import Tensor, nn

from course_lib.models import BERT, BERTConfig
from course_lib.objectives.heads import MaskedLanguageModel, NextSentencePredictor, head_loss
from course_lib.objectives.labelled_data import LabelledBatch, LabelledText, labelled_data
from course_lib.objectives.pretraining import MaskedTokens, sentence_pairs
from course_lib.published.bert import save_bert
from course_lib.text.fast_subwords import BERT_SPECIAL, SubwordVocabulary
from course_lib.toys.small_world import texts
from course_lib.training.loop import TrainingConfig, train
from course_lib.training.progress import progress_bar
from course_lib.training.schedules import linear_schedule

PIECES = 590
"""A little less than the number of words, so that rare ones are cut."""

ALPHABET = [" ".join(string.ascii_lowercase), "a" + string.ascii_lowercase]
MARKS = ", . ; : ? ! ' - 0 1 2 3 4 5 6 7 8 9"
"""Characters that the small world lacks, so that any English text can be cut into pieces."""


class BothHeads(nn.Module):
    """A BERT with the two heads of its pre-training, which learn together."""

    def __init__(self, config: BERTConfig) -> None:
        super().__init__()
        bert = BERT(config)
        self.tokens = MaskedLanguageModel(bert)
        self.sentences = NextSentencePredictor(bert)


def learn_vocabulary(stories: list[list[str]]) -> SubwordVocabulary:
    """Learn WordPiece from the stories and the alphabet."""
    return SubwordVocabulary.train_wordpiece([*ALPHABET, MARKS, *(s for story in stories for s in story)], PIECES)


def make(folder: Path, steps: int = 7000, count: int = 40_000, seed: int = 0) -> None:
    """Pre-train the model, and save it with its vocabulary.

    Args:
        folder: where to save it; created if missing.
        steps: the number of training steps.
        count: the number of texts to read.
        seed: the seed of the texts, the masking, and the weights.
    """
    stories = texts(count, seed)
    vocabulary = learn_vocabulary(stories)
    pairs = sentence_pairs(stories, random.Random(seed))
    examples = [
        LabelledText((vocabulary.encode_pair(first, second),), torch.tensor(label)) for first, second, label in pairs
    ]
    special = tuple(vocabulary.id(token) for token in BERT_SPECIAL)
    hide = MaskedTokens(len(vocabulary), vocabulary.id("[MASK]"), special)

    def loss(model: BothHeads, batch: LabelledBatch) -> Tensor:
        return hide.loss(model.tokens, batch) + head_loss(model.sentences, batch)

    torch.manual_seed(seed)
    model = BothHeads(BERTConfig(len(vocabulary), 64, d_model=64, heads=4, layers=3, d_ff=256))
    config = TrainingConfig(steps, linear_schedule(2e-3, max(1, steps // 10), steps), precision="fp32", seed=seed)
    with progress_bar(steps) as progress:
        train(model, labelled_data(examples, 1536), loss, config, "cpu", progress=progress)
    save_bert(folder, model.tokens, model.sentences)
    lines = "".join(f"{piece}\n" for piece in vocabulary.tokens(range(len(vocabulary))))
    (folder / "vocab.txt").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m course_lib.toys.small_bert FOLDER")
    make(Path(sys.argv[1]))
