def longest_climb(heights):
    best = run = 0
    for at, height in enumerate(heights):
        run = run + 1 if at and height > heights[at - 1] else 1
        best = max(best, run)
    return best
