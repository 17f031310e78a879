"""Logs: one JSON object a line on stderr, without completions and without keys.

Covered: requests with method, path, status, milliseconds, tenant and the key's public id; failures
with the frames of their stack; whatever looks like a key is cut out of every line.
Not covered: the words of an unexpected exception, which may hold a completion, are left out; its
type and its frames are there.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
import traceback
from typing import Any

from sqlalchemy.exc import OperationalError

from unhack.core.errors import UnhackError

_KEY = re.compile(r"uh_[0-9a-f]{12}_[0-9A-Za-z_-]*")
_FIELDS = ("method", "path", "status", "ms", "tenant", "key", "batch", "error_id")
_TOLD = (UnhackError, OSError, OperationalError)
"""Exceptions whose words hold no completion."""


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line. Times are UTC."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            line["error"] = type(error).__name__
            if isinstance(error, _TOLD):
                line["words"] = str(error)
            line["frames"] = [
                f"{frame.filename}:{frame.lineno} {frame.name}"
                for frame in traceback.extract_tb(error.__traceback__)
            ]
        return without_keys(json.dumps(line))


def without_keys(text: str) -> str:
    """The text without the secret part of any key."""
    return _KEY.sub("uh_(cut)", text)


def begin_logs() -> None:
    """Send the logs of the server and of uvicorn to stderr as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("unhack.server", "uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
