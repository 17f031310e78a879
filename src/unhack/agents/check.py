"""`unhack-check`: what the files of a workspace are worth as they stand, asked from inside it.

The script sends nothing but a request. The host takes the files that may be handed in, with every
process of the agent stopped, and answers as the assignment says. The script exits with 0 where the
files are valid, 1 where they are not, and 3 without an answer.

Covered: files that are no regular files are not taken, as at the end of an attempt.
Not covered: what an answer gives away; whoever writes the assignment decides that.
"""

from __future__ import annotations

from typing import Any

from unhack.agents.play import AgentTree, Assignment, HandedIn

SCRIPT = """#!{python} -I
\"\"\"Ask the judge what the submission in the workspace is worth on development data.\"\"\"
import http.client, json, sys

link = http.client.HTTPConnection("127.0.0.1", {port}, timeout=3600)
try:
    link.request("POST", "/check", headers={{"authorization": "Bearer {token}"}})
    answer = json.loads(link.getresponse().read())
except (OSError, ValueError, http.client.HTTPException) as error:
    print(f"no answer: {{error}}", file=sys.stderr)
    sys.exit(3)
if "--json" in sys.argv[1:]:
    print(json.dumps(answer))
else:
    print(answer.get("text", answer))
sys.exit(0 if answer.get("valid") else 1)
"""


def snapshot(tree: AgentTree, handed_in: HandedIn) -> dict[str, bytes]:
    """The files as they stand; the process tree is stopped meanwhile."""
    tree.freeze(holder="snapshot")
    try:
        return dict(
            tree.read(
                handed_in.patterns, max_files=handed_in.max_files, max_bytes=handed_in.max_bytes
            )
        )
    finally:
        tree.thaw(holder="snapshot")


def answer_check(assignment: Assignment, tree: AgentTree) -> dict[str, Any]:
    """The answer of `unhack-check`."""
    return dict(assignment.check(snapshot(tree, assignment.handed_in)))
