# %% right | constant logits: the training counts as logits for every test example
def majority_accuracy(training_labels, test_labels):
    logits = torch.bincount(training_labels).float().expand(len(test_labels), -1)
    return (logits.argmax(-1) == test_labels).float().mean()


# %% wrong | place among the distinct labels instead of the label: wrong where the labels have gaps (such as 1 and 3) | place_among_the_labels
def majority_accuracy(training_labels, test_labels):
    _, counts = training_labels.unique(return_counts=True)
    return (test_labels == counts.argmax()).float().mean()


# %% wrong | looks the label up in the test's bincount: raises where training's most frequent label is larger than all labels of the test
def majority_accuracy(training_labels, test_labels):
    most = torch.bincount(training_labels).argmax()
    return torch.bincount(test_labels)[most] / len(test_labels)


# %% wrong | Counter of tensors: every element is a key of its own, so the first label wins | first_label
def majority_accuracy(training_labels, test_labels):
    label = Counter(training_labels).most_common(1)[0][0]
    return (test_labels == label).float().mean()


# %% wrong | training and test swapped | majority_of_the_test+share_in_training
def majority_accuracy(training_labels, test_labels):
    most = torch.bincount(test_labels).argmax()
    return (training_labels == most).float().mean()


# %% wrong | the count taken for the label + measured on training | share_in_training+count_for_the_label
def majority_accuracy(training_labels, test_labels):
    most = torch.bincount(training_labels).max()
    return (training_labels == most).float().mean()
