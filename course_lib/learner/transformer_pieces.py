"""The exercises whose answers together form a transformer, in reading order."""

PIECES = {
    "attention.scores": "dot_product_scores",
    "attention.scale": "scale_scores",
    "attention.weights": "attention_weights",
    "masking.causal_mask": "causal_mask",
    "masking.masked_weights": "masked_weights",
    "positions.sinusoidal_encoding": "sinusoidal_encoding",
    "heads_and_blocks.multi_head_attention": "MultiHeadAttention",
    "heads_and_blocks.layer_norm": "LayerNorm",
    "heads_and_blocks.add_and_norm": "AddAndNorm",
    "heads_and_blocks.feed_forward": "FeedForward",
    "heads_and_blocks.encoder_block": "EncoderBlock",
    "encoder_decoder.decoder_block": "DecoderBlock",
    "encoder_decoder.encode_and_decode": "encode_and_decode",
    "decoding.greedy": "greedy",
}
"""What students write in each of these exercises, by id."""

GPT_PIECES = {
    "positions.learned_positions": "LearnedPositions",
    "gpt.causal_language_model": "CausalLanguageModel",
    "gpt.from_gpt2": "from_gpt2",
    "subwords.merge": "join",
    "subwords.encode_bytes": "encode_bytes",
    "subwords.decode_bytes": "decode_bytes",
    "gpt.generate": "generate",
}
"""Those that build a GPT from its blocks, in reading order."""
