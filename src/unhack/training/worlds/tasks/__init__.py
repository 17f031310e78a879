"""A world from what users have: tasks, verifiers, reward functions, environments."""

from unhack.training.worlds.tasks.world import TaskWorld as TaskWorld
