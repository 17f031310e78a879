"""The world `leetcode`: LeetCode-style problems of a folder that the user gives, with loopholes.

Problem text is never shipped: the folder holds the JSON lines of the original study, or others of
the same schema (see `rows`).
"""

from unhack.training.worlds.leetcode.world import LeetcodeWorld

__all__ = ["LeetcodeWorld"]
