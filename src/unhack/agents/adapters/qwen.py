"""Qwen Code, by its headless mode."""

from __future__ import annotations

from unhack.agents.adapter import Adapter

QWEN = Adapter(
    name="qwen",
    title="Qwen Code",
    executables=("qwen",),
    install="npm install -g @qwen-code/qwen-code",
    provider="dashscope",
    events="qwen",
    model="qwen3-coder-plus",
    arguments=(
        "-p",
        "{prompt}",
        "--yolo",
        "--auth-type",
        "openai",
        "--output-format",
        "stream-json",
    ),
    environ={
        "OPENAI_BASE_URL": "{url}/dashscope/v1",
        "OPENAI_API_KEY": "{token}",
        "OPENAI_MODEL": "{model}",
    },
)
