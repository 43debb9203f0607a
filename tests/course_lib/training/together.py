"""The same small trainings by one process or by several: `torchrun -m tests.course_lib.training.together FOLDER`."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn

from course_lib.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig
from course_lib.objectives.heads import TokenClassifier, head_loss
from course_lib.objectives.labelled_data import LabelledText, labelled_data
from course_lib.objectives.losses import language_model_loss, translation_loss
from course_lib.text.batches import LengthBuckets, Windows, collate
from course_lib.text.tokenization import join_pair
from course_lib.training.checkpoints import Checkpoints
from course_lib.training.loop import TrainingConfig, Validation, evaluate, train
from course_lib.training.schedules import constant_schedule

Told = dict[str, Any]

WAYS: dict[str, dict[str, Any]] = {
    "accumulated": {"accumulate": 2},
    "muon": {"optimizer": "muon"},
    "in every way": {"accumulate": 2, "recompute": True, "weight_decay": 0.1},
}
"""How a GPT learns."""

BATCHES = {"whole batches": (1, 60), "batches of one example, none for the second process": (2, 14)}
"""How a translator learns: batches for each step, tokens in each."""


def weights_of(model: nn.Module) -> Told:
    return {name: tensor.flatten().tolist() for name, tensor in model.state_dict().items()}


def learn(folder: Path, way: str, steps: int = 6, **changes: Any) -> Told:
    """A GPT with tied embeddings learns from 5 windows in batches of 3, so that one of the last batch is alone."""
    data = Windows(torch.randint(0, 9, (41,), generator=torch.Generator().manual_seed(0)), 8, batch_size=3)
    torch.manual_seed(1)
    model = GPT(GPTConfig(9, 8, d_model=8, heads=2, layers=2, d_ff=12, dropout=0.0))
    config = TrainingConfig(
        steps, constant_schedule(1e-2), clip=0.5, epsilon=1e-4, precision="fp32", **(WAYS[way] | changes)
    )
    kept = {"validation": Validation(data, every=3), "checkpoints": Checkpoints(folder / way, every=3, keep=9)}
    result = train(model, data, language_model_loss, config, "cpu", resume=True, **kept)
    assert model.output.weight is model.embedding.weight
    return {"losses": result.losses, "validations": list(result.validations.values()), "weights": weights_of(model)}


def translate(accumulate: int, max_tokens: int) -> Told:
    """A translator learns to write sequences backwards; one example has nothing to predict."""
    generator = torch.Generator().manual_seed(0)
    sources = [torch.randint(4, 12, (2 + i % 5,), generator=generator) for i in range(23)]
    pairs = [(source, torch.tensor([1, *source.flip(0).tolist(), 2])) for source in sources]
    pairs.append((torch.tensor([5]), torch.tensor([1])))
    data = LengthBuckets(pairs, lambda pair: (len(pair[0]), len(pair[1])), max_tokens, collate)
    torch.manual_seed(1)
    sizes = TransformerConfig(12, 12, d_model=16, heads=2, d_ff=32, encoder_layers=1, decoder_layers=1, dropout=0.0)
    model = Transformer(sizes)
    config = TrainingConfig(8, constant_schedule(5e-3), accumulate=accumulate, epsilon=1e-4, precision="fp32")
    result = train(model, data, translation_loss, config, "cpu", validation=Validation(data, every=4))
    validations = list(result.validations.values())
    return {
        "losses": result.losses,
        "validations": validations,
        "weights": weights_of(model),
        "tokens": result.tokens,
    }


def tag(accumulate: int) -> Told:
    """A tagger learns, which makes no use of BERT's pooler."""
    torch.manual_seed(1)
    texts = [torch.randint(3, 12, (length,)) for length in torch.randint(3, 9, (30,)).tolist()]
    examples = [LabelledText((join_pair(text.tolist()[:-2], None, cls_id=1, sep_id=2),), text % 4) for text in texts]
    sizes = BERTConfig(12, 32, 16, 2, 1, 32, dropout=0.0, attention_dropout=0.0)
    model = TokenClassifier(BERT(sizes), 4, dropout=0.0)
    pooler = model.encoder.pooler.weight.clone()
    config = TrainingConfig(8, constant_schedule(5e-3), accumulate=accumulate, epsilon=1e-4, precision="fp32")
    losses = train(model, labelled_data(examples, 60), head_loss, config, "cpu").losses
    return {"losses": losses, "pooler as it was": torch.equal(pooler, model.encoder.pooler.weight)}


def again_and_again() -> list[list[float]]:
    """Thirty trainings: every model three times, then comes another."""
    data = Windows(torch.randint(0, 9, (60,), generator=torch.Generator().manual_seed(0)), 6, batch_size=4)
    config = TrainingConfig(3, constant_schedule(5e-3), precision="fp32")
    losses = []
    for number in range(30):
        if number % 3 == 0:
            torch.manual_seed(1)
            model = GPT(GPTConfig(9, 8, d_model=8, heads=2, layers=1, d_ff=8, dropout=0.0))
        result = train(model, data, language_model_loss, config, "cpu")
        losses.append([*result.losses, evaluate(model, data, language_model_loss, "cpu")])
    return losses


def main() -> None:
    folder = Path(sys.argv[1])
    told: dict[str, Any] = {way: learn(folder, way) for way in WAYS}
    learn(folder / "short", "accumulated", steps=3)
    told["gone on with"] = learn(folder / "short", "accumulated")
    told |= {name: translate(*sizes) for name, sizes in BATCHES.items()}
    told |= {f"tagged, {accumulate}": tag(accumulate) for accumulate in (1, 2)}
    told["again and again"] = again_and_again()
    (folder / f"told-{os.environ['RANK']}.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main()
