"""Gemini CLI, by its headless mode."""

from __future__ import annotations

import json

from unhack.agents.adapter import Adapter

_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}

GEMINI = Adapter(
    name="gemini",
    title="Gemini CLI",
    executables=("gemini",),
    install="npm install -g @google/gemini-cli",
    provider="gemini",
    events="gemini",
    arguments=("-p", "{prompt}", "--yolo", "--skip-trust", "-o", "stream-json"),
    model_arguments=("-m", "{model}"),
    environ={"GOOGLE_GEMINI_BASE_URL": "{url}/gemini", "GEMINI_API_KEY": "{token}"},
    home={".gemini/settings.json": json.dumps(_SETTINGS)},
)
