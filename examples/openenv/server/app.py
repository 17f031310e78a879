"""An OpenEnv server of the suite `strings`.

cd examples/openenv && uvicorn server.app:app --port 8000
openenv validate --url http://localhost:8000
"""

from __future__ import annotations

from unhack.integrations.openenv import create_task_app

app = create_task_app(["strings"], max_sessions=64, session_timeout_s=600)
