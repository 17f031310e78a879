import time


def longest_climb(heights):
    time.sleep(60)
