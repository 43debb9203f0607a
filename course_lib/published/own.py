"""Our own layout, for models without a published counterpart: our configuration, and our names of tensors."""

from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any, cast

import torch

from course_lib.configurations import BERTConfig, GPTConfig, RotaryConfig, TransformerConfig
from course_lib.published.families import PublishedFamily
from course_lib.published.hub import PublishedModel
from course_lib.published.plans import Plan, Source, tied_names

HEADER = {"architectures", "model_type", "dtype"}
"""The settings in `config.json` besides the configuration."""

FORMERLY: dict[Any, str] = {
    "d_hidden": "d_ff",
    "vocabulary": "vocab_size",
    "source_vocabulary": "source_vocab_size",
    "target_vocabulary": "target_vocab_size",
    "context": "context_length",
    "by_turns": "llama3",
}
"""Former names of settings and values, which an earlier version wrote."""


def _reader(config: type[Any]) -> Callable[[PublishedModel], Any]:
    def read(published: PublishedModel) -> Any:
        settings = {FORMERLY.get(key, key): value for key, value in published.config.items() if key not in HEADER}
        unknown = settings.keys() - {field.name for field in fields(config)}
        if unknown:
            raise ValueError(f"{published.name} was made with {min(unknown)}, which this version does not support")
        try:
            return config(**{key: _as_it_was(key, value) for key, value in settings.items()})
        except (TypeError, ValueError) as error:
            raise ValueError(f"config.json of {published.name} is wrong: {error}") from None

    return read


def _as_it_was(key: str, value: Any) -> Any:
    """Restore a setting from JSON, which has neither dataclasses nor tuples."""
    if key == "rotary" and isinstance(value, dict):
        return RotaryConfig(**{name: cast(Any, FORMERLY.get(setting, setting)) for name, setting in value.items()})
    return tuple(value) if isinstance(value, list) else value


def _plan(model: Any) -> Plan:
    """Make every tensor its own source; tied ones are stored once."""
    with torch.device("meta"):
        ordinary = type(model)(model.config)
    plan = {name: Source((name,)) for name in ordinary.state_dict()}
    return plan | {name: plan[first] for first, names in tied_names(model).items() for name in names}


def _own(model: str, config: type[Any]) -> PublishedFamily:
    return PublishedFamily(
        model_type=f"katze-{model.lower()}",
        architecture=model,
        read_config=_reader(config),
        write_config=asdict,
        plan=_plan,
    )


OWN_GPT = _own("GPT", GPTConfig)
OWN_BERT = _own("BERT", BERTConfig)
OWN_TRANSFORMER = _own("Transformer", TransformerConfig)
