"""Right answers to the exercises, as different from each other as honest students write them.

They certify the checks: `katze certify` refuses an exercise whose check rejects one of them. One module for each
lesson, and in it one tuple for each exercise, of the exercise's own name. Every style that students bring has its
place: loops, einsum, broadcasting, numpy, double precision in between, work in place on a copy, `torch.func.vmap`,
masks used as numbers, `torch.no_grad` where no gradient is asked for.
"""
