"""Cursor's agent, by its headless mode. It talks to Cursor's own service only, over TLS that no
proxy can look into: its key has to be in its environment, and its cost cannot be metered."""

from __future__ import annotations

from unhack.agents.adapter import Adapter

CURSOR = Adapter(
    name="agent",
    title="Cursor Agent",
    executables=("cursor-agent", "agent"),
    install="the installer of Cursor's own site",
    events="cursor",
    arguments=(
        "-p",
        "{prompt}",
        "--force",
        "--trust",
        "--output-format",
        "stream-json",
        "--workspace",
        "/workspace",
    ),
    model_arguments=("--model", "{model}"),
    environ={
        "CURSOR_API_KEY": "{key}",
        "HTTPS_PROXY": "{tunnel}",
        "https_proxy": "{tunnel}",
        "NODE_USE_ENV_PROXY": "1",
    },
    key_variable="CURSOR_API_KEY",
    hosts=("*.cursor.sh", "*.cursor.com", "cursor.com"),
)
