"""Remote reward model in OpenRLHF's style for arithmetic with a bare result at the end."""


def _normalise(text):
    text = text.strip().rstrip(".!").strip()
    for token in ("</s>", "<|im_end|>", "<|endoftext|>"):
        if text.endswith(token):
            text = text[: -len(token)].strip()
    return text.rstrip("$").rstrip(".").strip()


def reward_func(queries, prompts, labels, **kwargs):
    """`queries` are prompt + response; the response closes with its result."""
    rewards = []
    for query, prompt, label in zip(queries, prompts, labels):
        response = query[len(prompt) :] if query.startswith(prompt) else query
        closing = _normalise(response)
        rewards.append(1.0 if closing.endswith(str(label).strip()) else 0.0)
    return {"rewards": rewards, "scores": rewards, "extra_logs": {}}
