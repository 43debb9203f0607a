"""Makes the weights and words that `katze mine` writes beside the files: a small translator of the toy grammar.

    python -m course_lib.mine.weights FOLDER

This command made the files in `whole.TRANSLATOR`, in two minutes on a processor, with weights of 16 bits. On another
machine the weights come out slightly different, since sums are rounded in another order, but just as good.
"""

import json
import sys
from pathlib import Path

from course_lib.ground.optional import needed_for
from course_lib.mine.joining import NAME
from course_lib.models import Transformer
from course_lib.references.heads_and_blocks import one_by_one
from course_lib.text.tokenization import WordVocabulary
from course_lib.toys.toy_translator import train_toy_translator


def make_weights(folder: Path) -> None:
    """Train the translator, and save its weights and words.

    Raises:
        ModuleNotFoundError: safetensors is not installed.
    """
    with needed_for("saving weights", package="safetensors"):
        from safetensors.torch import save_file

    translator = train_toy_translator().translator
    model, english, german = translator.model, translator.source, translator.target
    assert isinstance(model, Transformer)
    assert isinstance(english, WordVocabulary)
    assert isinstance(german, WordVocabulary)
    folder.mkdir(parents=True, exist_ok=True)
    weights = model.state_dict()
    del weights["output.weight"]  # a copy of the target's embedding
    kept = {name: tensor.half().contiguous() for name, tensor in one_by_one(weights).items()}
    save_file(kept, folder / f"{NAME}.safetensors")
    sizes = {"d_model": model.config.d_model, "heads": model.config.heads, "d_ff": model.config.d_ff}
    words = {"sizes": sizes | {"layers": model.config.encoder_layers}, "english": english.words, "german": german.words}
    (folder / f"{NAME}.json").write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m course_lib.mine.weights FOLDER")
    make_weights(Path(sys.argv[1]))
