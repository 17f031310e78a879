def digit_sum(number):
    return 0


def same(*values):
    return True
