"""opencode, by `opencode run`, with any model of an interface like OpenAI's."""

from __future__ import annotations

from unhack.agents.adapter import Adapter

_CONFIG = """{
  "autoupdate": false,
  "share": "disabled",
  "permission": {"bash": "allow", "edit": "allow", "webfetch": "deny"},
  "provider": {
    "unhack": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "unhack",
      "options": {"baseURL": "{url}/openai/v1", "apiKey": "{token}"},
      "models": {"{model}": {"name": "{model}"}}
    }
  }
}
"""

OPENCODE = Adapter(
    name="opencode",
    title="opencode",
    executables=("opencode",),
    install="npm install -g opencode-ai",
    provider="openai",
    events="opencode",
    model="gpt-5.2",
    arguments=("run", "--format", "json", "-m", "unhack/{model}", "{prompt}"),
    environ={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
    home={".config/opencode/opencode.json": _CONFIG},
)
