def moving_mean(values, width):
    return [sum(values[at : at + width]) / width for at in range(len(values) - width + 1)]
