# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lesson 000 · Primer
#
# Begin here if you know Python but have never written a training loop, or haven't in years. In an hour and three
# quarters, you will learn what the other lessons take for granted: tensors and their shapes, broadcasting, gradients,
# models, and the loop that trains them. The ten questions below tell you what to read and what to skip.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | the last word of each sentence | 1 | 4 |
# | 2 | how far each cat has danced | 2 | 8 |
# | 3 | a bag of words for every sentence | 2 | 8 |
# | 4 | the gradient of a loss | 2 | 7 |
# | 5 | gradient descent | 2 | 7 |
# | 6 | a two-layer model | 2 | 6 |
# | 7 | a training and test split | 1 | 5 |
# | 8 | a training loop | 3 | 12 |
# | 9 | a short answer, in words | 2 | 10 |

# %% [markdown]
# **How checks work.** Below each task is a cell for your answer and a cell that checks it. Run the check as often as
# you like. It tells you what it called, what came back and what it expected. If it recognizes your mistake, it tells
# you what you did.
#
# Stuck? Each call to `hint("primer.last_words")` opens another hint. `case("primer.last_words")` returns the inputs on
# which your answer fails. Once you have tried, `solution("primer.last_words")` shows the course's answer and explains
# it. `progress()` shows how far you have come.

# %%
import random

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution

show.use_style()
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## 1. A tensor has a shape
#
# A **tensor** is a box of numbers. A list has one **dimension**, a table has two, and a stack of tables has three. A
# tensor's **shape** is the number of entries along each dimension.
#
# Three cats dance. For each of four beats, we note where each cat is, as two numbers: across and up. That gives a
# tensor of shape `[3, 4, 2]`, or, with the dimensions named, `[cats, beats, 2]`. Dimensions are numbered from 0: the
# cats are dimension 0, and the beats are dimension 1.
#
# An index says what to take along each dimension, from left to right:
#
# - A number takes one entry and drops the dimension. Entries are counted from 0, and -1 is the last entry.
# - A slice such as `1:3` takes several entries (here, 1 and 2) and keeps the dimension. `:` takes everything.
# - Dimensions that you do not mention stay as they are. `...` stands for as many `:` as needed.
#
# **Predict first.** What is the shape of each of these?

# %%
# Write each as text, such as "[5, 6]"
my_shapes = {"dance[0]": None, "dance[:, 0]": None, "dance[..., 0]": None, "dance[:, 1:]": None}

# %%
dance = torch.arange(24.0).reshape(3, 4, 2)  # [cats, beats, 2]
shapes = {
    "dance[0]": list(dance[0].shape),  # the first cat
    "dance[:, 0]": list(dance[:, 0].shape),  # every cat at the first beat
    "dance[..., 0]": list(dance[..., 0].shape),  # how far across, for every cat and beat
    "dance[:, 1:]": list(dance[:, 1:].shape),  # all beats but the first
}

# %% tags=["demo"]
for indexed, shape in shapes.items():
    show.prediction(indexed, my_shapes[indexed], str(shape))

# %% [markdown]
# When code fails, print the shapes first. Usually, a dimension is missing, left over, or in the wrong position.
#
# Then print the **dtype**, the type that all numbers of a tensor share: `float32` for numbers with a decimal point,
# `int64` for whole numbers, `bool` for True and False. Ids and classes are whole numbers; weights and gradients need
# floats. `x.float()` converts to `float32`. When seven digits are not enough, use `float64` (**double precision**),
# which has sixteen.

# %%
print(torch.tensor([3, 1]).dtype, torch.tensor([3.0, 1.0]).dtype, (torch.tensor([3, 1]) > 2).dtype)

# %% [markdown]
# ### Exercise 1 · The last word of each sentence
# `primer.last_words` · 1 point · about 4 minutes
#
# A **batch** of several sentences is a tensor too: each word in it is a list of `d_model` numbers, called a **vector**.
# Take the last word of each sentence. Run the check before you write anything, then with a deliberate mistake in your
# code, then with the right answer.
#
# Shapes: `x` is `[sentences, words, d_model]`, and the result is `[sentences, d_model]`.


# %% nbgrader={"grade": false, "grade_id": "primer-last_words-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def last_words(x):
    """The vector of each sentence's last word.

    x: [sentences, words, d_model]
    returns: [sentences, d_model]
    """
    ### BEGIN SOLUTION
    return x[:, -1]
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The colon keeps the first dimension, -1 takes the last entry of the second, and the third stays because it isn't
# mentioned. A slice such as `-1:` would keep the second dimension, with size 1. You would get no error until the result
# met another tensor, much later.

# %% nbgrader={"grade": true, "grade_id": "primer-last_words-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("primer.last_words")
### BEGIN HIDDEN TESTS
check("primer.last_words", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 2. Sums and means take a dimension away
#
# `x.sum(dim=1)` sums along dimension 1: `[3, 4, 2]` becomes `[3, 2]`. `mean`, `amax` (the largest) and `any` change the
# shape the same way. `dim` names the dimension that *disappears*, not the one that stays; -1 means the last dimension.
# (`max` with a `dim` returns two tensors: the largest numbers and their indices.)
#
# Without `dim`, all dimensions disappear, leaving a single number of shape `[]`. With `keepdim=True`, the dimension
# stays, with size 1; you will need that in section 3.

# %%
scores = torch.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])  # [cats, judges]
print("per cat:  ", scores.sum(dim=1))
print("per judge:", scores.sum(dim=0))
print("in all:   ", scores.sum())
print("kept:     ", scores.sum(dim=1, keepdim=True).tolist())

# %% [markdown]
# You don't need loops for arithmetic. `a - b` and `a * b` combine the numbers at the same position in two tensors;
# `x.square()` and `x.sqrt()` work on every number of one tensor.
#
# ### Exercise 2 · How far each cat has danced
# `primer.distance_danced` · 2 points · about 8 minutes
#
# Return the length of each cat's path: add up the lengths of its steps from beat to beat. A step of 3 across and 4 up
# has length √(3² + 4²) = 5. There are at least two beats.
#
# Shapes: `positions` is `[cats, beats, 2]`, and the result is `[cats]`.


# %% nbgrader={"grade": false, "grade_id": "primer-distance_danced-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def distance_danced(positions):
    """How far each cat has moved in all.

    positions: [cats, beats, 2]
    returns: [cats]
    """
    ### BEGIN SOLUTION
    steps = positions[:, 1:] - positions[:, :-1]
    lengths = steps.square().sum(dim=-1).sqrt()
    return lengths.sum(dim=-1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Subtracting all beats but the last from all beats but the first gives every step at once. Then sum twice: over the two
# coordinates before you take the square root, and over the steps afterward. The order matters: each step needs its own
# square root. A single square root at the end doesn't give the length of the path.

# %% nbgrader={"grade": true, "grade_id": "primer-distance_danced-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("primer.distance_danced")
### BEGIN HIDDEN TESTS
check("primer.distance_danced", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def two_dances():
    positions = torch.tensor(
        [[[0.0, 0.0], [3.0, 4.0], [3.0, 0.0], [0.0, 0.0]], [[5.0, 0.5], [5.5, 1.5], [6.5, 2.5], [6.5, 3.5]]]
    )
    danced = distance_danced(positions)
    drawn, [axes] = show.frames(width=6.4, height=3.6)
    for name, path, far, colour in zip(("Minka", "Felix"), positions, danced, (show.BLUE, show.ORANGE), strict=True):
        axes.plot(*path.T, "o-", color=colour, label=f"{name}: {far:.2f}")
    axes.set(xlabel="across", ylabel="up", title="Two dances of four beats, and their lengths")
    axes.legend(loc="upper left")
    show.figure(drawn, "Two paths of three steps: Minka's returns to its start, Felix's goes up.")


# %% [markdown]
# Minka ends where she began, yet she has danced farther than Felix.
#
# ## 3. Broadcasting
#
# What is a table plus a row? Torch lines the shapes up **from the right**. Two sizes fit if they are equal or one of
# them is 1; a missing dimension counts as 1. Along a dimension of size 1, the single entry is repeated. This is
# **broadcasting**.
#
# | what | first | second | result |
# |---|---|---|---|
# | a table and a row | `[2, 3]` | `[3]` | `[2, 3]`: the row is added to each row |
# | a table and a column | `[2, 3]` | `[2, 1]` | `[2, 3]`: the column is added to each column |
# | a column and a row | `[2, 1]` | `[3]` | `[2, 3]`: all pairs |
# | a mismatch | `[2, 3]` | `[2]` | an error: from the right, 3 meets 2 |
#
# `x.unsqueeze(-1)`, or `x[..., None]`, adds a dimension of size 1 at the end: it turns a list `[2]` into a column
# `[2, 1]`. You will need *all pairs* again and again for attention.

# %%
cats = torch.tensor([0.0, 10.0])
beats = torch.tensor([1.0, 2.0, 3.0])
print(cats.unsqueeze(-1) + beats)

# %% [markdown]
# **Predict first.** A square table is a trap. Below, `square` is `[3, 3]`, and the code seems to subtract each cat's
# mean from that cat's scores. Torch raises no error. Is the first cat's mean 0 afterward?

# %%
is_first_mean_0 = None  # True or False

# %%
square = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
careless = square - square.mean(dim=1)
careful = square - square.mean(dim=1, keepdim=True)

# %% tags=["demo"]
show.prediction("the first row's mean is 0", is_first_mean_0, bool(careless[0].mean() == 0))
judges = [f"judge {number}" for number in (1, 2, 3)]
show.matrices(
    show.Panel("minus [3]: wrong", careless, ["Minka", "Felix", "Mia"], judges, decimals=0),
    show.Panel("minus [3, 1]: right", careful, ["Minka", "Felix", "Mia"], judges, decimals=0),
    alt="On the left, each column has lost a different cat's mean, and row 1 has mean -3; right, each row is -1, 0, 1.",
)

# %% [markdown]
# The means, `[3]`, line up with the *columns*: Felix's mean is subtracted from the second judge's scores.
# `keepdim=True` makes them a column, `[3, 1]`. If the table weren't square, torch would raise an error.
#
# Comparisons broadcast too. Here are three words, written as numbers from 0 to 3. Comparing each word with all four
# numbers, `torch.arange(4)`, gives one True in every row:

# %%
print(torch.tensor([2, 0, 2]).unsqueeze(-1) == torch.arange(4))

# %% [markdown]
# ### Exercise 3 · A bag for every sentence
# `primer.bags_of_words` · 2 points · about 8 minutes
#
# A **vocabulary** is a list of words, and the index of a word in that list is its **id**. A **bag of words** says how
# often each word of the vocabulary occurs in a sentence. Make a bag of words for every sentence. (Summing booleans
# counts the True ones.)
#
# Shapes: `ids` is an integer tensor `[sentences, words]`, `vocab_size` is an int, and the result is an integer tensor
# `[sentences, vocab_size]`.


# %% nbgrader={"grade": false, "grade_id": "primer-bags_of_words-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bags_of_words(ids, vocab_size):
    """How often each word of the vocabulary occurs in each sentence.

    ids: int [sentences, words], from 0 to vocab_size - 1
    vocab_size: int
    returns: int [sentences, vocab_size]
    """
    ### BEGIN SOLUTION
    same = ids.unsqueeze(-1) == torch.arange(vocab_size)
    return same.sum(dim=1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Once the ids have a last dimension of size 1, broadcasting compares each id with the whole vocabulary:
# `[sentences, words, 1]` against `[vocab_size]` gives `[sentences, words, vocab_size]`. Summing over the words counts
# the matches; `any` would tell you *whether* a word occurs, not how often. A loop is just as correct but slower;
# torch's `one_hot` makes the same comparison.

# %% nbgrader={"grade": true, "grade_id": "primer-bags_of_words-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("primer.bags_of_words")
### BEGIN HIDDEN TESTS
check("primer.bags_of_words", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def three_bags():
    vocabulary = ["the", "cat", "dog", "chased", "danced"]
    texts = ["the cat chased the dog", "the dog chased the cat", "the cat danced danced danced"]
    bags = bags_of_words(torch.tensor([[vocabulary.index(word) for word in text.split()] for text in texts]), 5)
    show.matrices(
        show.Panel("how often each word occurs", bags.float(), texts, vocabulary, decimals=0),
        alt="Counts of five words in three sentences; the first two rows are equal.",
    )


# %% [markdown]
# The first two rows are equal. That is what lesson 00 is about.
#
# ## 4. A gradient says which way is up
#
# A **model** turns inputs into predictions, using numbers that it has learned: its **weights**. A simple model predicts
# the applause for a sentence by adding up the weights of its words. With a bag of words `x` and weights `w`, this sum
# is `x @ w`, a **matrix product**: multiply each count by the weight of its word, and add up the products. For a table
# of bags, you get one sum for each row.
#
# The **loss** is a single number that says how wrong the model is: here, the mean squared error. Learning changes `w`
# so that the loss falls. But which weight, and in which direction?
#
# The **gradient** answers that: for each weight, it says how fast the loss rises as that weight grows. If that number
# is positive, making the weight smaller lowers the loss. Getting the gradient from torch takes three steps:
#
# 1. `requires_grad_()` tells torch to track a tensor. (`torch.tensor(2.0, requires_grad=True)` creates a tracked one.)
# 2. `loss.backward()` goes back through all the computations and works out the gradient.
# 3. The tensor's `.grad` now holds the gradient.
#
# **Predict first.** *Cat danced* got 5 claps. With a weight of 1 for each word, the model predicts 2, so the loss is
# (2 - 5)² = 9. What are the two numbers in the gradient? Or at least: are they positive or negative, and are they
# equal?

# %%
my_gradient = {"cat": None, "danced": None}  # two numbers

# %% tags=["demo"]
weights = torch.tensor([1.0, 1.0]).requires_grad_()  # of "cat" and "danced"
bag = torch.tensor([1.0, 1.0])  # each occurs once
squared = (bag @ weights - 5).square()
squared.backward()
print("loss", squared.item())
for word, rise in zip(my_gradient, weights.grad.tolist(), strict=True):
    show.prediction(f"the gradient for {word}", my_gradient[word], rise)

# %% [markdown]
# Both numbers are -6: a larger weight for either word would lower the loss. The two numbers are equal because each word
# occurs once.
#
# **A trap.** `backward()` *adds* to `.grad`: after two calls, `.grad` holds the sum of two gradients. So every training
# loop sets the old gradients to zero before it computes new ones.

# %% tags=["demo"]
again = (bag @ weights - 5).square()
again.backward()
print("after a second backward():", weights.grad)

# %% [markdown]
# ### Exercise 4 · Which way is up
# `primer.loss_gradient` · 2 points · about 7 minutes
#
# Return the gradient of the loss at `w`; the loss is the mean of (x @ w - y)² over all examples. Let torch compute the
# gradient, or work out the formula. Don't change the caller's `w`: work on a copy, `w.clone()`.
#
# Shapes: `w` is `[features]`, `x` is `[examples, features]`, `y` is `[examples]`, and the result is `[features]`.


# %% nbgrader={"grade": false, "grade_id": "primer-loss_gradient-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def loss_gradient(w, x, y):
    """The gradient at w of the mean of (x @ w - y)².

    w: [features]
    x: [examples, features]
    y: [examples]
    returns: [features]
    """
    ### BEGIN SOLUTION
    w = w.clone().requires_grad_()
    loss = (x @ w - y).square().mean()
    loss.backward()
    return w.grad
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Torch records all steps from the copy of `w` to the loss, and `backward()` goes back through them by the chain rule.
# Worked out by hand, the gradient is 2 xᵀ(xw - y) / examples. The copy matters: if the caller's own tensor is suddenly
# tracked, or keeps a gradient, the code that uses it next is in for a surprise.

# %% nbgrader={"grade": true, "grade_id": "primer-loss_gradient-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("primer.loss_gradient")
### BEGIN HIDDEN TESTS
check("primer.loss_gradient", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 5. Gradient descent
#
# The gradient points uphill. So take a small step the other way, compute the gradient there, and repeat:
#
# $$w \leftarrow w - \text{rate} \cdot \text{gradient}(w)$$
#
# That is **gradient descent**, and all training in this course is some form of it. The steps are longer where the loss
# is steeper, and a larger `rate`, the **learning rate**, makes them all longer.
#
# ### Exercise 5 · Step by step downhill
# `primer.walk_downhill` · 2 points · about 7 minutes
#
# Take `steps` steps and return the whole path, with the start as its first position. `gradient(w)` computes the
# gradient at `w`. (`torch.stack` turns a list of tensors of the same shape into one tensor.)
#
# Shapes: `start` is `[features]`, and so is `gradient(w)`; `rate` is a number, and `steps` is an int; the result is
# `[steps + 1, features]`.


# %% nbgrader={"grade": false, "grade_id": "primer-walk_downhill-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def walk_downhill(gradient, start, rate, steps):
    """The path of gradient descent.

    gradient: a function, from [features] to [features]
    start: [features]
    rate: float
    steps: int
    returns: [steps + 1, features]
    """
    ### BEGIN SOLUTION
    path = [start]
    for _ in range(steps):
        slope = gradient(path[-1])
        path.append(path[-1] - rate * slope)
    return torch.stack(path)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Each step takes the gradient at the last position of the path, not at the start, because the slope changes as you go.
# `w -= ...` would change the same tensor every time, and the list would hold it many times over; `w = w - ...` makes a
# new tensor.

# %% nbgrader={"grade": true, "grade_id": "primer-walk_downhill-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("primer.walk_downhill")
### BEGIN HIDDEN TESTS
check("primer.walk_downhill", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Below is the loss for three sentences and their applause: a landscape over the two weights, seen from above. Gray
# lines join points of equal loss, and the cross is the lowest point. Three walks begin at the same point, with rates of
# 0.05, 0.2 and 0.28. **Predict first:** which walk does *not* end in the valley?

# %%
rate_that_fails = None  # 0.05, 0.2 or 0.28


# %% tags=["demo"]
@show.when_ready
def three_walks():
    # "cat danced", "cat cat cat danced", "danced": how often cat and danced occur, and how much applause there was
    bags, applause = torch.tensor([[1.0, 1.0], [3.0, 1.0], [0.0, 1.0]]), torch.tensor([3.0, 7.0, 1.0])
    start = torch.tensor([1.0, 4.0])
    across, up = torch.meshgrid(torch.linspace(-0.5, 4, 80), torch.linspace(-1.5, 5, 80), indexing="xy")
    height = sum((across * a + up * b - y).square() for (a, b), y in zip(bags, applause, strict=True)) / 3
    drawn, panels = show.frames(3, width=10.2, height=3.6)
    for axes, rate in zip(panels, (0.05, 0.2, 0.28), strict=True):
        path = walk_downhill(lambda w: loss_gradient(w, bags, applause), start, rate, 12)
        axes.contour(across, up, height, levels=[0.1, 0.5, 1.5, 4, 8, 16, 32, 64], colors=show.GREY, linewidths=0.8)
        axes.plot(*path.T, "o-", color=show.BLUE, ms=4, linewidth=1.3)
        axes.plot(2, 1, "x", color=show.ORANGE, ms=10, mew=2.5)
        last = (bags @ path[-1] - applause).square().mean()
        axes.set(xlim=(-0.5, 4), ylim=(-1.5, 5), xlabel="weight of cat", title=f"rate {rate}: loss {last:.2g}")
    panels[0].set_ylabel("weight of danced")
    show.prediction("the rate that fails", rate_that_fails, 0.28)
    show.figure(
        drawn,
        "A long valley seen from above, and three walks of twelve steps: the first is slow, the second swings from side "
        "to side and comes near the bottom, the third swings further out with every step.",
    )


# %% [markdown]
# With a small rate, the walk is safe but slow. With a larger rate, the walk swings across the valley but still gets
# there. With the largest rate, each step lands higher on the other side, and the loss keeps growing. If your loss grows
# or becomes `nan`, try a smaller rate first.
#
# ## 6. A model is an nn.Module
#
# Weights that belong together live in a class, an **`nn.Module`**. You write two methods:
#
# - `__init__` calls `super().__init__()`, then creates the model's parts. A part stored in `self` is **registered**,
#   which makes its weights **parameters** of the model.
# - `forward` computes the output. You never call `forward` yourself: `model(x)` does.
#
# The most common part is a **linear layer**. `nn.Linear(3, 2)` maps 3 numbers to 2, with a weight `[2, 3]` and a
# **bias** `[2]`. It computes `x @ weight.T + bias`, where `.T` turns rows into columns.

# %%
layer = nn.Linear(3, 2)
print({name: list(parameter.shape) for name, parameter in layer.named_parameters()})
print("five sentences:", list(layer(torch.zeros(5, 3)).shape))

# %% [markdown]
# **Predict first.** How many parameter tensors does each of these two models have? The second model keeps its layers in
# a plain list.

# %%
my_tensors = {"Pair": None, "Listed": None}


# %%
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)


class Listed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(3, 4), nn.Linear(4, 2)]


# %% tags=["demo"]
for kind in (Pair, Listed):
    show.prediction(kind.__name__, my_tensors[kind.__name__], len(list(kind().parameters())))

# %% [markdown]
# A plain list hides its layers from torch. Those layers would never learn, because the **optimizer**, which changes the
# weights during training, sees only parameters. `nn.ModuleList` is a list that registers its layers.
#
# Two linear layers in a row can do no more than one, since the product of two matrices is a matrix. So you put a
# nonlinear function in between. The simplest such function is the **ReLU**, `torch.relu`: it keeps positive numbers and
# turns the rest into 0.
#
# Often a model has to choose between **classes**, such as applause or no applause, instead of predicting a number. Such
# a model returns one number for each class, called a **logit**, and answers with the class whose logit is largest. To
# train such a model, `F.cross_entropy` takes the logits, `[examples, classes]`, and each example's correct class, an
# integer tensor `[examples]`. This loss includes a softmax (see lesson 01), which turns the logits into probabilities,
# so never apply one yourself. The loss is small when the correct class has a high probability.

# %%
logits = torch.tensor([[2.0, 0.0]])  # one example, two classes: the model says 0
print("if 0 is right:", F.cross_entropy(logits, torch.tensor([0])))
print("if 1 is right:", F.cross_entropy(logits, torch.tensor([1])))

# %% [markdown]
# ### Exercise 6 · A critic of two layers
# `primer.critic` · 2 points · about 6 minutes
#
# Write `forward`: the bags go through `hidden`, then through a ReLU, then through `output`. Keep the names in the
# constructor, because the check loads weights into these layers. The check also compares the gradients of all weights.
#
# Shapes: `bags` is `[sentences, vocab_size]`, and the result is `[sentences, classes]`.


# %% nbgrader={"grade": false, "grade_id": "primer-critic-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Critic(nn.Module):
    """Two linear layers with a ReLU between them.

    vocab_size: int, how many numbers go in
    d_hidden: int, how many there are between the layers
    classes: int, how many logits come out
    """

    def __init__(self, vocab_size, d_hidden, classes):
        super().__init__()
        self.hidden = nn.Linear(vocab_size, d_hidden)
        self.output = nn.Linear(d_hidden, classes)

    def forward(self, bags):
        """The logits of each sentence.

        bags: [sentences, vocab_size]
        returns: [sentences, classes]
        """
        ### BEGIN SOLUTION
        hidden = torch.relu(self.hidden(bags))
        return self.output(hidden)
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# You call each layer like a function. The ReLU goes between the two and nowhere else: after the last layer, it would
# rule out negative logits. Torch tracks a module's parameters automatically, so gradients reach all four.

# %% nbgrader={"grade": true, "grade_id": "primer-critic-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("primer.critic")
### BEGIN HIDDEN TESTS
check("primer.critic", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 7. A split keeps you honest
#
# A model can learn its examples by heart. Then it gets all of them right, yet knows nothing else. So keep some examples
# out of training, and judge the model by how well it does on those examples. This is a **split** into a **training
# set** and a **test set**.
#
# Shuffle before you cut. Data is often sorted, so the two sets would otherwise contain different kinds of examples.
# Shuffle the **labels**, the correct answers, *with* the examples.
#
# Save the test set for the end. If you try several learning rates and keep the one that does best on the test set, that
# result is partly luck. For such choices, use a third set, for **validation**.
#
# A shuffle is a list of indices, and you can index a tensor with it:

# %%
order = torch.tensor([2, 0, 1])
print(torch.tensor([10, 11, 12])[order])

# %% [markdown]
# ### Exercise 7 · Keep some for the test
# `primer.split` · 1 point · about 5 minutes
#
# Put the examples and their labels in the given order. The last `tested` examples are the test set, and the others are
# the training set. Each set has at least one example.
#
# Shapes: `x` is `[examples, features]`; `labels` and `order` are integer tensors `[examples]`; the result is a tuple
# `(x_training, labels_training, x_test, labels_test)`.


# %% nbgrader={"grade": false, "grade_id": "primer-split-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split(x, labels, order, tested):
    """The examples in the given order, cut into training and test sets.

    x: [examples, features]
    labels: int [examples]
    order: int [examples], each number from 0 to examples - 1 once
    tested: int, how many are kept for the test
    returns: x_training, labels_training, x_test, labels_test
    """
    ### BEGIN SOLUTION
    training, test = order[:-tested], order[-tested:]
    return x[training], labels[training], x[test], labels[test]
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Cut the order, not the data, and it is hard to go wrong: the same indices select examples and labels. The worst
# mistake raises no error: if you also train on the test examples, every result is too good, and you never find out.

# %% nbgrader={"grade": true, "grade_id": "primer-split-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("primer.split")
### BEGIN HIDDEN TESTS
check("primer.split", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 8. The training loop
#
# Here is a whole training run: a linear layer learns how much applause each word is worth. Read it line by line.
# (`F.mse_loss` is the mean squared error; the seed makes every run start from the same random weights.)

# %% tags=["demo"]
torch.manual_seed(0)
four_bags = torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # cat, danced, slept
claps = torch.tensor([[5.0], [1.0], [3.0], [-1.0]])

model = nn.Linear(3, 1, bias=False)
sgd = torch.optim.SGD(model.parameters(), lr=0.3)
for step in range(100):
    error = F.mse_loss(model(four_bags), claps)  # how wrong is it?
    sgd.zero_grad()  # forget the last step's gradients
    error.backward()  # compute new ones
    sgd.step()  # take a step downhill
    if step in (0, 1, 10, 99):
        print(f"step {step:2}: loss {error.item():.4f}")
print("cat, danced, slept:", model.weight.detach())

# %% [markdown]
# - The optimizer, here `sgd`, changes the parameters by gradient descent, as in section 5. The *S* stands for
#   *stochastic*: each step usually uses only a random batch of examples. Here one batch holds all four sentences.
# - Every iteration does the same four things: **loss, zero, backward, step**. Without `zero_grad`, old gradients add
#   up; without `step`, the model learns nothing. Neither mistake raises an error.
# - This course uses the optimizer **Adam**, which adapts the step size for each weight. If a weight's gradient keeps
#   its sign, the step is about as large as the learning rate, even if the gradient is tiny; if the sign changes, the
#   step is smaller. You use Adam the same way as SGD, and you will write it yourself in lesson 05.
#
# *Cat* was worth 2, *danced* 3 and *slept* -1. The model has recovered these numbers from the claps for four sentences.
#
# ### Exercise 8 · A training loop
# `primer.train` · 3 points (2 for the values, 1 in double precision) · about 12 minutes
#
# Train a linear layer to choose between classes. Start from the given weight and bias, and take `steps` steps of
# `torch.optim.Adam` with the learning rate `rate` on the cross-entropy of all examples. Return the trained weight and
# bias, and the loss *before* each step.
#
# An optimizer accepts any list of tracked tensors, such as `weight.clone().requires_grad_()`, so you don't need
# `nn.Linear`.
#
# Shapes: `weight` is `[classes, features]`, `bias` is `[classes]`, `x` is `[examples, features]`, `labels` is an
# integer tensor `[examples]`; the result is a tuple of `weight`, `bias` and `losses`, which has shape `[steps]`.

# %% [markdown] tags=["fine-print"]
# Detach all three results (`detach()`). Don't change the caller's tensors. The check also tries double precision
# (float64).


# %% nbgrader={"grade": false, "grade_id": "primer-train-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def train(weight, bias, x, labels, rate, steps):
    """A linear layer after some steps of Adam.

    weight: [classes, features]
    bias: [classes]
    x: [examples, features]
    labels: int [examples]
    rate: float
    steps: int
    returns: weight, bias, losses [steps]
    """
    ### BEGIN SOLUTION
    weight, bias = weight.clone().requires_grad_(), bias.clone().requires_grad_()
    optimizer = torch.optim.Adam([weight, bias], lr=rate)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(x @ weight.T + bias, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return weight.detach(), bias.detach(), torch.stack(losses)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Create one optimizer before the loop, for tracked copies: Adam remembers earlier gradients, and a new optimizer at
# every step would forget them. Inside the loop, the order is loss, zero, backward, step. Detach each loss; otherwise it
# keeps the whole graph of its step in memory. Keep the loss from before the step, because the step follows the gradient
# of that loss.

# %% nbgrader={"grade": true, "grade_id": "primer-train-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("primer.train")
### BEGIN HIDDEN TESTS
check("primer.train", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now use it. On each of 200 evenings, a different cat performed. *Cat 3 sang beautifully*: applause. *Cat 2 fell
# loudly*: no applause. About one audience in six was in a strange mood and did the opposite.

# %%
VERBS = {"danced": 3, "sang": 1, "slept": -1, "fell": -3}
MANNERS = {"beautifully": 2, "loudly": 0, "badly": -2}
rng = random.Random(1)
evenings = []
for cat in range(200):
    verb, manner = rng.choice(list(VERBS)), rng.choice(list(MANNERS))
    strange = rng.random() < 1 / 6
    evenings.append((f"cat{cat} {verb} {manner}", int((VERBS[verb] + MANNERS[manner] > 0) != strange)))
for sentence, clapped in evenings[:4]:
    print(clapped, sentence)

# %% [markdown]
# The model sees every word, including the cats' names. The model trains on 100 evenings; the other 100 are the test
# set. **Predict first:** how often is the model right on each set? What happens to the two losses?

# %%
my_accuracies = {"training": None, "test": None}  # in %


# %% tags=["demo"]
@show.when_ready
def two_hundred_evenings():
    words = sorted({word for sentence, _ in evenings for word in sentence.split()})
    ids = torch.tensor([[words.index(word) for word in sentence.split()] for sentence, _ in evenings])
    labels = torch.tensor([clapped for _, clapped in evenings])
    shuffled = torch.randperm(200, generator=torch.Generator().manual_seed(0))
    x, y, x_test, y_test = split(bags_of_words(ids, len(words)).float(), labels, shuffled, 100)
    numbers, unseen = [1, 3, 6, *range(10, 301, 10)], []
    for steps in numbers:
        weight, bias, seen = train(torch.zeros(2, len(words)), torch.zeros(2), x, y, 0.03, steps)
        unseen.append(F.cross_entropy(x_test @ weight.T + bias, y_test).item())
    for name, rows, right in (("training", x, y), ("test", x_test, y_test)):
        share = ((rows @ weight.T + bias).argmax(dim=-1) == right).float().mean().item()
        show.prediction(f"right on the {name} set", my_accuracies[name], 100 * share, "%")
    drawn, [axes] = show.frames(width=6.8, height=3.6)
    axes.plot(seen, color=show.BLUE, label="training")
    axes.plot(numbers, unseen, color=show.ORANGE, label="test")
    lowest = min(unseen)
    axes.plot(numbers[unseen.index(lowest)], lowest, "o", color=show.ORANGE)
    axes.set(xlabel="steps", ylabel="loss", ylim=(0, None), title="It learns, and then it learns by heart")
    axes.legend()
    show.figure(
        drawn,
        "Two losses over 300 steps: the training loss falls toward 0; the test loss falls at first, then rises.",
    )


# %% [markdown]
# In the end, the model is right about every training evening, even the strange ones. The model uses its weight for each
# cat's name to remember how that one evening went. None of those names occur in the test set. Meanwhile, the other
# weights keep growing until the model is more confident about the test evenings than it should be. So the test loss is
# lowest at the dot and then rises. That is **overfitting**. Without the split, you would have seen only the blue line
# and been proud of it.
#
# No model can get the whole test set right. Even if you knew the rule, you would be wrong whenever the audience was in
# a strange mood, about one time in six.
#
# ### Exercise 9 · In your own words
# `primer.best_of_five` · 2 points, read by a person · about 10 minutes
#
# A friend has seen the picture above. She trains five models on the 100 training evenings, for 10, 30, 60, 100 and 300
# steps, evaluates each on the test set, and keeps the one with the lowest test loss. She reports that loss as the one
# to expect on new evenings. "I never trained on the test set," she says. In three to six sentences: is her number too
# good, too bad, or right? Why, even though no training step used a test evening? What would you do with the same 200
# evenings? And would five *hundred* models make her number better or worse?
#
# Learning on your own? Once you have written your answer,
# `solution("primer.best_of_five")` in a new cell shows one good answer and what earns points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "primer-best_of_five-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# Her number is too good, on average. The five results differ partly by chance, because the test set has only 100
# evenings, a sixth of them strange. Choosing the lowest loss keeps the luckiest model, which won't be so lucky on new
# evenings. No step used the test set, but the choice did, and choosing is learning, too. I would split the evenings
# into three: 100 for training, 50 for validation and 50 for testing; choose the number of steps by validation loss, and
# evaluate the chosen model once on the test set. With five hundred models, the luckiest one is even luckier, so the
# number looks better but is a worse forecast.
#
# *(One point: the number is too good, because the choice uses the test set and keeps the luckiest model; more models
# make it worse. One point: choose with a third set, and use the test set once, at the end.)*

# %% [markdown]
# ## Glossary
#
# - **Tensor**: a box of numbers, with any number of dimensions.
# - **Shape**: how many entries a tensor has along each dimension.
# - **dtype**: the type of a tensor's numbers: `float32`, `float64` (**double precision**), `int64`, `bool`.
# - **Broadcasting**: repeating dimensions of size 1 so that two shapes fit.
# - **Batch**: several examples in one tensor.
# - **Vocabulary**, **id**: a list of words, and a word's index in it.
# - **Bag of words**: how often each word of a vocabulary occurs in a sentence.
# - **Weights**, **parameters**: the numbers that a model learns.
# - **Loss**: a single number that says how wrong a model is.
# - **Gradient**: for each weight, how fast the loss rises as that weight grows.
# - **Gradient descent**: small steps against the gradient.
# - **Learning rate**: the factor that turns a gradient into a step.
# - **`nn.Module`**: a model as a class, which registers its parts.
# - **Linear layer**: `x @ weight.T + bias`.
# - **ReLU**: keeps positive numbers and turns the rest into 0.
# - **Logits**: a model's numbers for the classes; the model answers with the class whose logit is largest.
# - **Cross-entropy**: the loss of a classifier; it is small when the correct class has a high probability.
# - **Optimizer**: takes the training steps; SGD does plain gradient descent, and Adam adapts the step size for each
#   weight.
# - **Training and test**: the examples that a model learns from, and the examples kept out of training to judge it by.
# - **Validation**: a third set, to make choices with.
# - **Overfitting**: learning what is true only of the training examples.
#
# ## What you have now
#
# That is all the torch you need. In lesson 00, the bag of words becomes a bag of *vectors*, and you find out what no
# bag can ever know.
