"""Pictures and widgets for the lessons. They draw what they are given and compute nothing that is graded.

- `use_style`, `frames`, `figure`: matplotlib figures, sharp and legible on light and dark pages
- `BLUE`, `ORANGE`, `GREEN`, `GREY`, `INK`: their colors, for what a lesson draws itself
- `matrices` and `Panel`: heat maps with words on their axes and numbers in their cells; masks too
- `bars`: one weight for each word
- `families` and `Family`: tasks as boxes, with their inputs and outputs
- `stacks`, `Stack` and `Layer`: an encoder and a decoder as boxes, with shapes between them
- `loss_curve`: how a training run went
- `clocks`: sinusoidal positions as the hands of clocks, with sliders that turn them
- `race`: layers compared by sequential steps and by time
- `tree`: what a model might write, as a tree, with paths through it
- `distributions`: several over the same words, side by side
- `writing` and `Written`: a sentence written word by word, to step through
- `prompts`: how a model continues some beginnings
- `piece_rows`: words cut into pieces, as bricks; `merge_tree`: how a word's pieces were merged
- `cutting`: the same rows, with a field to cut other words, pair by pair
- `covered`: a sentence whose words can be covered, and a model's guesses
- `edits`: the table of an edit distance, and the path through it
- `questionnaire`: questions with buttons
- `when_ready`: a picture that borrows the course's answer while a student's is missing
- `prediction`: a learner's prediction beside the result
- `attention_stepper`: worked example A, cell by cell
- `neighbours`: words in a plane, and the nearest by dot product and by cosine
- `query_explorer`: the example's keys in their plane, and a query to drag
- `softmax_gradient`: the divisor of the scores, and what is left of softmax's derivative
- `mask_painter`: a mask to paint, and which outputs see the last word
- `block_walk`: a block line by line, with the shape at each
- `translating` and `TranslationAttention`: a translation that grows word by word, with the attention of any head
- `heads` and `TextAttention`: where each word of a text looks, in any layer and head
- `merging`: byte-pair encoding on any text, one pair at a time
- `sampling`: the effect of temperature, top-k and the nucleus on a distribution
- `searching`: beam search on a tree, with other branches to take by hand
- `schedules`: a learning rate that rises and falls, with sliders
"""

from course_lib.show.figures import BLUE, GREEN, GREY, INK, ORANGE, figure, frames, use_style
from course_lib.show.pictures.bars import bars, distributions
from course_lib.show.pictures.curves import loss_curve, race
from course_lib.show.pictures.families import Family, families
from course_lib.show.pictures.matrices import Panel, edits, matrices
from course_lib.show.pictures.pieces import merge_tree, piece_rows
from course_lib.show.pictures.stacks import Layer, Stack, stacks
from course_lib.show.pictures.tree import tree
from course_lib.show.predictions import prediction
from course_lib.show.ready import when_ready
from course_lib.show.widgets.block_walk import block_walk
from course_lib.show.widgets.clocks import clocks
from course_lib.show.widgets.decoding import sampling, searching
from course_lib.show.widgets.exploring import mask_painter, neighbours, query_explorer, softmax_gradient
from course_lib.show.widgets.language_models import covered, prompts
from course_lib.show.widgets.questionnaire import questionnaire
from course_lib.show.widgets.schedules import schedules
from course_lib.show.widgets.stepper import attention_stepper
from course_lib.show.widgets.subwords import cutting, merging
from course_lib.show.widgets.weights import TextAttention, TranslationAttention, heads, translating
from course_lib.show.widgets.writing import Written, writing

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "INK",
    "ORANGE",
    "Family",
    "Layer",
    "Panel",
    "Stack",
    "TextAttention",
    "TranslationAttention",
    "Written",
    "attention_stepper",
    "bars",
    "block_walk",
    "clocks",
    "cutting",
    "distributions",
    "covered",
    "edits",
    "families",
    "figure",
    "frames",
    "heads",
    "loss_curve",
    "mask_painter",
    "matrices",
    "merge_tree",
    "merging",
    "neighbours",
    "piece_rows",
    "prediction",
    "prompts",
    "query_explorer",
    "questionnaire",
    "race",
    "softmax_gradient",
    "sampling",
    "schedules",
    "searching",
    "stacks",
    "translating",
    "tree",
    "use_style",
    "when_ready",
    "writing",
]
