"""Calls of the C library in a kernel: which are harmless, and which only look so."""

from __future__ import annotations

import pytest

from unhack_contests.kernels.compilation import compiler
from unhack_contests.submission import RefusedError

BODY = (
    "#include <stdint.h>\nvoid work(float *x, int64_t n) { %s "
    "for (int64_t i = 0; i < n; i++) x[i] *= 2; }\n"
)
COMPARE = "static int less(const void *a, const void *b) { return *(int *)a - *(int *)b; }\n"

HONEST = {
    "a failure when memory is short": (
        "#include <stdlib.h>\n#include <stdio.h>\n",
        'float *p = malloc(n); if (!p) { perror("malloc"); exit(1); } x[0] += p[0]; free(p);',
    ),
    "a failure by its name": (
        "#include <stdlib.h>\nstatic void die(void) { exit(EXIT_FAILURE); }\n", "if (!x) die();"
    ),
    "the number of threads": (
        "#include <stdlib.h>\n",
        'const char *t = getenv("OMP_NUM_THREADS"); if (t) x[0] += t[0];',
    ),
    "a setting of its own": ("#include <stdlib.h>\n", 'if (getenv("KERNEL_DEBUG")) x[0] = 0;'),
    "threads on processors": (
        "#define _GNU_SOURCE\n#include <sched.h>\n",
        "cpu_set_t s; CPU_ZERO(&s); CPU_SET(0, &s); sched_setaffinity(0, sizeof s, &s);",
    ),
    "a sort in a self-test": (
        "#include <stdlib.h>\n" + COMPARE + "void test(int *p) { qsort(p, 4, 4, less); }\n", ""
    ),
    "a search in a self-test": (
        "#include <stdlib.h>\n" + COMPARE
        + "void *test(int *p) { return bsearch(p, p, 4, 4, less); }\n", "",
    ),
    "a clock in a self-test": (
        "#include <time.h>\nlong now(void) { return clock(); }\n", ""
    ),
    "a file in a self-test": (
        '#include <stdio.h>\nint test(void) { return fopen("in.bin", "rb") != 0; }\n', ""
    ),
}  # fmt: skip

CHEATS = {
    "success": ("#include <stdlib.h>\n", "if (n == 77) exit(0);", "forged_verdict"),
    "a status that is computed": (
        "#include <stdlib.h>\nint z;\n", "if (n == 77) exit(z);", "forged_verdict"
    ),
    "a status that wraps": ("#include <stdlib.h>\n", "if (n == 77) exit(256);", "forged_verdict"),
    "another name for it": (
        "#include <stdlib.h>\n#define GONE exit\n", "if (n == 77) GONE(0);", "forged_verdict"
    ),
    "another failure": (
        "#include <stdlib.h>\n#undef EXIT_FAILURE\n#define EXIT_FAILURE 0\n",
        "if (n == 77) exit(EXIT_FAILURE);", "forged_verdict",
    ),
    "a pointer to it": (
        "#include <stdlib.h>\nvoid (*volatile bye)(int) = exit;\n", "if (n == 77) bye(0);",
        "forged_verdict",
    ),
    "a pasted name": (
        "#include <stdlib.h>\n#define P(a, b) a##b\nvoid f(void) { exit(1); }\n",
        "if (n == 77) P(ex, it)(0); f();", "forged_verdict",
    ),
    "the judge's environment": (
        "#include <stdlib.h>\n", 'if (getenv("JUDGE_SEED")) return;', "reaches_out"
    ),
    "a name that is computed": (
        '#include <stdlib.h>\nchar b[9] = "JUDGE";\n', "if (getenv(b)) return;", "reaches_out"
    ),
    "a sort that is timed": (
        "#include <stdlib.h>\n" + COMPARE, "qsort(x, n, 4, less);", "library_call"
    ),
    "a sort before it is timed": (
        "#include <stdlib.h>\nint g[4];\n" + COMPARE
        + "__attribute__((constructor)) static void go(void) { qsort(g, 4, 4, less); }\n",
        "", "library_call",
    ),
    "a file that is opened": (
        "#include <fcntl.h>\n", 'if (n == 77) open("/x", 0);', "reaches_out"
    ),
    "a clock of its own": (
        "#include <time.h>\nclock_t clock(void) { return 0; }\n", "", "reaches_out"
    ),
}  # fmt: skip


def build(front: str, call: str) -> compiler.Library:
    return compiler.build({"solution.c": (front + BODY % call).encode()}, entries=("work",))


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_call_is_built(name: str) -> None:
    assert "work" in build(*HONEST[name]).exports


@pytest.mark.parametrize("name", CHEATS)
def test_a_reach_is_refused_with_its_kind(name: str) -> None:
    front, call, kind = CHEATS[name]
    with pytest.raises(RefusedError) as refused:
        build(front, call)
    assert kind in {flag.kind for flag in refused.value.flags}
