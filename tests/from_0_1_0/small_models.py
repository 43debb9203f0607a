"""The models whose weights and checkpoints are kept here, as small as they can be, and what they were trained on."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.bags import BagOfEmbeddings, BagOfEmbeddingsConfig
from course_lib.configurations import BERTConfig, GPTConfig, TransformerConfig
from course_lib.models import BERT, GPT, Transformer
from course_lib.objectives.heads import SequenceClassifier, head_loss
from course_lib.objectives.labelled_data import LabelledText, labelled_data
from course_lib.objectives.losses import language_model_loss, translation_loss
from course_lib.text.batches import LengthBuckets, Windows, collate
from course_lib.text.tokenization import JoinedPair
from course_lib.training.checkpoints import Checkpoints
from course_lib.training.loop import TrainingConfig, TrainingResult, train
from course_lib.training.schedules import constant_schedule

IDS = torch.tensor([[4, 5, 6, 7], [9, 8, 4, 4]])
PAIRS = [(torch.tensor([4, 5, 6]), torch.tensor([1, 6, 5, 4, 2])), (torch.tensor([7, 8]), torch.tensor([1, 8, 7, 2]))]


@dataclass(frozen=True)
class SmallModel:
    """A model, by what makes it, and its training; `of_two` models take a source and a target."""

    make: Callable[[], Any]
    data: Any
    loss: Any
    of_two: bool = False
    optimizer: Any = "adamw"

    def train(self, model: nn.Module, steps: int, folder: Path) -> TrainingResult:
        """Train until this step, from the checkpoint in the folder if there is one."""
        config = TrainingConfig(steps, constant_schedule(1e-2), precision="fp32", optimizer=self.optimizer)
        return train(model, self.data, self.loss, config, "cpu", checkpoints=Checkpoints(folder), resume=True)

    def outputs(self, model: Any) -> Tensor:
        """What it makes of a few ids."""
        with torch.no_grad():
            made = model.eval()(IDS, IDS) if self.of_two else model.eval()(IDS)
        found: Tensor = made if isinstance(made, Tensor) else made.states
        return found


def _labelled() -> Any:
    texts = [([4, 5, 6], 0), ([7, 8], 1), ([9, 4, 4], 1)]
    inputs = [((JoinedPair(ids, [0] * len(ids)),), torch.tensor(label)) for ids, label in texts]
    return labelled_data([LabelledText(*one) for one in inputs], 12)


_WINDOWS = Windows(torch.arange(40) % 11, length=4, batch_size=3)
_TRANSLATIONS = LengthBuckets(PAIRS, lambda pair: (len(pair[0]), len(pair[1])), 16, collate)
_GPT = GPTConfig(11, 8, 8, 2, 1, 8)
_BERT = BERTConfig(11, 8, 8, 2, 1, 8)

SMALL_MODELS = {
    "transformer": SmallModel(
        lambda: Transformer(TransformerConfig(11, 11, 8, 2, 8, 1, 1, shared_embeddings=True)),
        *(_TRANSLATIONS, translation_loss),
        of_two=True,
    ),
    "gpt": SmallModel(lambda: GPT(_GPT), _WINDOWS, language_model_loss),
    "llama": SmallModel(
        lambda: GPT(GPTConfig.llama(11, 8, 2, 1, 8, context_length=8)), _WINDOWS, language_model_loss, optimizer="muon"
    ),
    "bert": SmallModel(lambda: BERT(_BERT), None, None),
    "bert_classifier": SmallModel(lambda: SequenceClassifier(BERT(_BERT), 2), _labelled(), head_loss),
    "bag_classifier": SmallModel(
        lambda: SequenceClassifier(BagOfEmbeddings(BagOfEmbeddingsConfig(11, 8)), 2), _labelled(), head_loss
    ),
}
