"""The servers' zone: first processes of a sandbox. They hold no secret and fork jobs."""
