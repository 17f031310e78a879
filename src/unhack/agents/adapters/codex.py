"""OpenAI Codex, by `codex exec`."""

from __future__ import annotations

from unhack.agents.adapter import Adapter

_PROVIDER = (
    'model_providers.unhack={name="unhack",base_url="{url}/openai/v1",env_key="UNHACK_KEY",'
    'wire_api="responses",supports_websockets=false}'
)

CODEX = Adapter(
    name="codex",
    title="OpenAI Codex",
    executables=("codex",),
    install="npm install -g @openai/codex",
    provider="openai",
    events="codex",
    arguments=(
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--ephemeral",
        "--ignore-user-config",
        "--ignore-rules",
        "--dangerously-bypass-approvals-and-sandbox",
        "-C",
        "/workspace",
        "-c",
        "analytics.enabled=false",
        "-c",
        "model_provider=unhack",
        "-c",
        _PROVIDER,
        "{prompt}",
    ),
    model_arguments=("-m", "{model}"),
    environ={"UNHACK_KEY": "{token}", "CODEX_HOME": "/home/agent/.codex"},
    home={".codex/config.toml": ""},
)
