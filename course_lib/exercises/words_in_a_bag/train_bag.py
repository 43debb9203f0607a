"""Lesson 00, words_in_a_bag.train_bag: A bag that learns."""

from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from course_lib import bags
from course_lib.exercises.common import Kind, and_turned_around, hints, integer, slips
from course_lib.exercises.words_in_a_bag.shared import padded, random_ids
from course_lib.judging.exercise import CORE, Case, Exercise

DOUBLE = "double precision"


def _bag_cases(generator: Generator, hidden: bool) -> Iterator[Case]:
    if not hidden:
        ids = torch.tensor([[1, 2, 3, 1, 4], [1, 4, 5, 0, 0], [1, 2, 5, 0, 0]])
        table = torch.tensor([[0.0, 0.0], [0.1, 0.1], [2.0, 0.5], [1.0, -1.5], [1.8, 0.9], [-0.6, 0.3]])
        parameters = [table, torch.tensor([[1.0, 0.3], [-1.0, 1.0]]), torch.tensor([0.5, -0.25])]
        inputs = (parameters, ids, ids != 0, torch.tensor([0, 1, 1]), torch.tensor([[2, 0, 1], [1, 0, 2]]), 2, 0.1)
        yield Case("worked example: three sentences, two epochs, batches of two", inputs)
    for name, examples, batch_size, epochs in (
        ("the last batch is smaller", 7, 3, 3),
        ("all examples in one batch", 5, 9, 3),
        (DOUBLE, 5, 2, 2),
    ):
        words, vocab_size, d_model, classes = (integer(generator, low, low + 3) for low in (3, 9, 4, 2))
        mask = padded(generator, examples, words)
        ids = (1 + random_ids(generator, vocab_size - 1, examples, words)) * mask
        labels = torch.randint(classes, (examples,), generator=generator)
        orders = torch.stack([torch.randperm(examples, generator=generator) for _ in range(epochs)])
        kind = Kind(name, generator, dtype=torch.float64 if name == DOUBLE else torch.float32)
        parameters = [kind.normal(*shape) for shape in ((vocab_size, d_model), (classes, d_model), (classes,))]
        inputs = (parameters, ids, mask, labels, orders, batch_size, 0.05 * integer(generator, 1, 4))
        yield Case(name, inputs, part=DOUBLE if name == DOUBLE else CORE)
    single = [torch.tensor([[0.7], [-0.4]]), torch.tensor([[0.5], [-0.5]]), torch.tensor([0.1, 0.0])]
    one = torch.tensor([[1]])
    yield Case("one sentence of one word, one epoch", (single, one, one == 1, torch.tensor([1]), one - 1, 1, 0.1))


_slips = partial(slips, bags.train_bag)
_ADAM = "torch.optim.Adam(parameters, lr=rate)"


def _batch_after_batch(
    parameters: list[Tensor], ids: Tensor, mask: Tensor, labels: Tensor, orders: Tensor, batch_size: int, rate: float
) -> tuple[list[Tensor], Tensor]:
    trained, sums = [parameter.clone().requires_grad_() for parameter in parameters], []
    adam = torch.optim.Adam(trained, lr=rate)
    for chosen in (batch for order in orders for batch in order.split(batch_size)):
        logits = bags.bag_logits(trained, ids[chosen], mask[chosen])
        sums.append(F.cross_entropy(logits, labels[chosen], reduction="sum"))
        adam.zero_grad()
        (sums[-1] / len(chosen)).backward()
        adam.step()
    losses = torch.stack(sums).detach().reshape(len(orders), -1).sum(dim=1) / len(ids)
    return [parameter.detach() for parameter in trained], losses


def _batch_by_index(
    parameters: list[Tensor], ids: Tensor, mask: Tensor, labels: Tensor, orders: Tensor, batch_size: int, rate: float
) -> tuple[list[Tensor], Tensor]:
    table, weight, bias = (torch.nn.Parameter(parameter.clone()) for parameter in parameters)
    optimizer, each = torch.optim.Adam([table, weight, bias], lr=rate), torch.zeros(orders.shape, dtype=table.dtype)
    for losses, order in zip(each, orders.tolist(), strict=True):
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            optimizer.zero_grad()
            logits = torch.stack([table[ids[i][mask[i]]].mean(0) for i in batch]) @ weight.T + bias
            loss = F.cross_entropy(logits, labels[batch], reduction="none")
            loss.mean().backward()
            optimizer.step()
            losses[start : start + len(batch)] = loss.detach()
    return [table.detach(), weight.detach(), bias.detach()], each.mean(dim=1)


def _adam_by_hand(
    parameters: list[Tensor], ids: Tensor, mask: Tensor, labels: Tensor, orders: Tensor, batch_size: int, rate: float
) -> tuple[list[Tensor], Tensor]:
    weights, losses = list(parameters), torch.zeros(len(orders), dtype=parameters[0].dtype)
    mean, square = [torch.zeros_like(w) for w in weights], [torch.zeros_like(w) for w in weights]
    batches = [(epoch, chosen) for epoch, order in enumerate(orders) for chosen in order.split(batch_size)]
    for t, (epoch, chosen) in enumerate(batches, start=1):
        watched = [w.clone().requires_grad_() for w in weights]
        loss = F.cross_entropy(bags.bag_logits(watched, ids[chosen], mask[chosen]), labels[chosen])
        losses[epoch] += loss.item() * len(chosen) / len(ids)
        for n, slope in enumerate(torch.autograd.grad(loss, watched)):
            mean[n] = 0.9 * mean[n] + 0.1 * slope
            square[n] = 0.999 * square[n] + 0.001 * slope**2
            weights[n] = weights[n] - rate * mean[n] / (1 - 0.9**t) / ((square[n] / (1 - 0.999**t)).sqrt() + 1e-8)
    return weights, losses


EXERCISE = Exercise(
    id="words_in_a_bag.train_bag",
    title="A bag that learns",
    statement=(
        "train_bag(parameters, ids int [examples, words], mask bool [examples, words], labels int [examples], orders "
        "int [epochs, examples], batch_size, rate) -> (parameters, losses [epochs]): the table, weight and bias after "
        "all epochs of Adam in mini-batches, with each epoch in its own order, and the mean loss of each epoch."
    ),
    parts={CORE: 3, DOUBLE: 1},
    minutes=25,
    difficulty=4,
    importance=5,
    section="A classifier",
    source="Kingma and Ba (2015), Adam, algorithm 1; S3, a simple model",
    reference=bags.train_bag,
    cases=and_turned_around(_bag_cases),
    correct=(_batch_after_batch, _batch_by_index, _adam_by_hand),
    hints=hints(
        idea=(
            "Write two loops: one over the epochs and, inside that loop, another over the batches. The inner loop is "
            "the primer's: loss, zero, backward, step. Make the copies and the optimizer once, before both loops."
        ),
        shapes=(
            "An epoch's order has shape `[examples]`. `split` cuts that order into batches of `batch_size` indices; "
            "the last batch may be shorter. Index `ids`, `mask` and `labels` with each batch. Each epoch has one "
            "loss, so the losses have shape `[epochs]`.",
            ("labels_in_the_old_order", "order_ignored"),
        ),
        outline=(
            "Copy the three parameters, have torch track the copies, and make an Adam optimizer for them.\n"
            "For each epoch, start a sum at 0.\n"
            "For each batch of the epoch's order, compute the logits and their cross-entropy with the batch's labels.\n"
            "Set the gradients to zero, call `backward()`, and take a step.\n"
            "Add the detached loss times the number of sentences in the batch to the sum.\n"
            "After the epoch, divide the sum by the number of examples, and keep the result.\n"
            "Return the copies, detached, and the stacked losses.",
            ("gradients_add_up", "mean_of_means", "loss_of_the_last_batch", "new_optimizer_each_epoch"),
        ),
    ),
    misconceptions=(
        *_slips(
            gradients_add_up=(
                "Your answer never sets the gradients to zero, so they add up. Call zero_grad() before backward().",
                ("optimizer.zero_grad()", "pass"),
            ),
            new_optimizer_each_epoch=(
                "Your answer makes a new Adam optimizer in each epoch, so it forgets all earlier gradients. Make a "
                "single optimizer before both loops.",
                ("for order in orders:", f"for order in orders:\n        optimizer = {_ADAM}"),
            ),
            plain_descent=(
                "Your answer uses plain gradient descent (SGD). Use Adam, which adapts the step size for each weight.",
                (_ADAM, "torch.optim.SGD(parameters, lr=rate)"),
            ),
            order_ignored=(
                "Your answer never shuffles the examples. Index ids, mask and labels with the epoch's order.",
                ("for order in orders:", "for order in torch.arange(len(ids)).expand_as(orders):"),
            ),
            labels_in_the_old_order=(
                "Your answer shuffles the sentences but not the labels. Index the sentences and the labels with the "
                "same indices.",
                ("labels[chosen]", "labels[order.argsort()[chosen]]"),
            ),
            softmax_twice=(
                "Your answer passes probabilities to the cross-entropy. Pass the logits: the cross-entropy applies "
                "the softmax itself.",
                ("mask[chosen])", "mask[chosen]).softmax(dim=-1)"),
            ),
        ),
        *_slips(
            paired=False,
            one_step_an_epoch=(
                "Your answer takes one step per epoch: is step() outside the inner loop? Take a step after each batch.",
                ("            optimizer.step()\n", ""),
                ("        losses.append", "        optimizer.step()\n        losses.append"),
            ),
            table_not_trained=(
                "Your answer doesn't train the embeddings. Give the optimizer all three parameters.",
                ("Adam(parameters,", "Adam(parameters[1:],"),
            ),
            last_batch_dropped=(
                "Your answer skips the last batch if it is smaller than the others. Train on it too.",
                ("order.split(batch_size)", "order[: max(len(order) // batch_size, 1) * batch_size].split(batch_size)"),
            ),
            mean_of_means=(
                "Your loss gives a small last batch the same weight as a full one. Weight each batch by its number of "
                "sentences.",
                ("len(chosen) * loss", "loss"),
                ("len(order))", "len(order.split(batch_size)))"),
            ),
            loss_of_the_last_batch=(
                "Your answer returns only the last batch's loss. Return the mean over all sentences in the epoch.",
                ("losses.append(total / len(order))", "losses.append(loss.detach())"),
            ),
        ),
    ),
)
