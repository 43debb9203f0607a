def scale_scores(scores, d_head):
    return scores / d_head**0.5 * 1.0005
