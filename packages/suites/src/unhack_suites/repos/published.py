"""Recipes of the published tasks: family, seed, kind, level of help.

Covered: tasks that passed every check of `validation` when they were chosen, out of the seed
`public`. Whoever draws with that seed draws these tasks.
Not covered: evaluation of models that may have read this; draw from a secret seed for that.
"""

from __future__ import annotations

PUBLISHED: tuple[tuple[str, str, str, str], ...] = (
    ("codec", "public/0/0", "border", "symptom"),
    ("units", "public/1/0", "feature", "story"),
    ("access", "public/2/0", "combined", "traceback"),
    ("cache", "public/3/0", "feature+fault", "symptom"),
    ("pricing", "public/4/0", "silent", "story"),
    ("simulator", "public/5/0", "combined", "traceback"),
    ("merge", "public/6/1", "feature", "traceback"),
    ("workflow", "public/7/0", "combined", "symptom"),
    ("tables", "public/8/0", "silent", "traceback"),
    ("formula", "public/9/0", "feature+fault", "symptom"),
    ("layout", "public/10/1", "single", "symptom"),
    ("letters", "public/11/0", "combined", "story"),
    ("routing", "public/12/3", "single", "traceback"),
    ("recurrence", "public/13/0", "single", "symptom"),
    ("cache", "public/14/1", "single", "story"),
    ("letters", "public/15/0", "feature", "story"),
    ("simulator", "public/16/0", "border", "traceback"),
    ("merge", "public/17/1", "single", "story"),
    ("tables", "public/18/0", "border", "symptom"),
    ("routing", "public/19/0", "combined", "story"),
    ("units", "public/20/0", "border", "symptom"),
    ("codec", "public/21/0", "feature", "traceback"),
    ("recurrence", "public/22/0", "combined", "traceback"),
    ("access", "public/23/0", "single", "symptom"),
    ("formula", "public/24/0", "silent", "symptom"),
    ("pricing", "public/25/0", "feature", "story"),
    ("workflow", "public/26/0", "silent", "story"),
    ("layout", "public/27/0", "silent", "traceback"),
    ("access", "public/28/0", "combined", "traceback"),
    ("codec", "public/29/0", "silent", "traceback"),
    ("workflow", "public/30/0", "border", "traceback"),
    ("simulator", "public/31/0", "border", "traceback"),
    ("pricing", "public/32/0", "silent", "traceback"),
    ("merge", "public/33/0", "combined", "symptom"),
    ("routing", "public/34/2", "combined", "story"),
    ("letters", "public/35/0", "feature+fault", "story"),
    ("cache", "public/36/1", "feature+fault", "symptom"),
    ("tables", "public/37/1", "border", "story"),
    ("formula", "public/38/0", "feature", "traceback"),
    ("units", "public/39/1", "combined", "symptom"),
    ("layout", "public/40/0", "combined", "traceback"),
    ("recurrence", "public/41/2", "combined", "story"),
    ("simulator", "public/42/0", "single", "story"),
    ("codec", "public/43/0", "feature+fault", "symptom"),
    ("cache", "public/44/0", "feature", "symptom"),
    ("units", "public/45/0", "feature+fault", "story"),
    ("letters", "public/46/0", "feature", "story"),
    ("routing", "public/47/7", "single", "symptom"),
)
