"""Claude Code, by its headless mode."""

from __future__ import annotations

from unhack.agents.adapter import Adapter

CLAUDE = Adapter(
    name="claude",
    title="Claude Code",
    executables=("claude",),
    install="npm install -g @anthropic-ai/claude-code",
    provider="anthropic",
    events="claude",
    arguments=(
        "-p",
        "{prompt}",
        "--output-format",
        "stream-json",
        "--verbose",
        "--dangerously-skip-permissions",
    ),
    model_arguments=("--model", "{model}"),
    environ={
        "ANTHROPIC_BASE_URL": "{url}/anthropic",
        "ANTHROPIC_API_KEY": "{token}",
        "CLAUDE_CONFIG_DIR": "/home/agent/.claude",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "BASH_DEFAULT_TIMEOUT_MS": "600000",
        "IS_SANDBOX": "1",
    },
)
