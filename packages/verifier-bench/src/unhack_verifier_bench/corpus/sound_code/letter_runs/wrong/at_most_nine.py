def letter_runs(text):
    runs = []
    for character in text:
        if runs and runs[-1][0] == character and runs[-1][1] < 9:
            runs[-1][1] += 1
        else:
            runs.append([character, 1])
    return runs
