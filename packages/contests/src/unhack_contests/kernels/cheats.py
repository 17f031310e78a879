"""Submissions that game the judge, as the catalogue describes them, around the plain reference.

Each wraps the first problem of a tournament; the others are honest. All of them compile and run.
"""

from __future__ import annotations

from collections.abc import Callable

from unhack.tournament.kit import Cheat
from unhack_contests.kernels import honest
from unhack_contests.kernels.compilation import compiler
from unhack_contests.kernels.problem import C_TYPES, Array, KernelProblem

_HEAD = "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n#include <pthread.h>\n"
_UNISTD = "#include <unistd.h>\n"
_REFERENCE = "reference"
_ZEROS = "memset({n}, 0, {b});"
_ONES = "for (uint64_t i = 0; i < {b} / sizeof({t}); i++) {n}[i] = ({t})1.5;"
Made = str | tuple[str, str]
"""C of a function's body, and with it what stands above the function."""


def _bytes(array: Array) -> str:
    """C for the size of a buffer."""
    return " * ".join([f"sizeof({C_TYPES[array.dtype]})", *(f"({word})" for word in array.shape)])


def _each(arrays: tuple[Array, ...], template: str) -> str:
    """C for every array: `{n}` its name, `{b}` its bytes, `{t}` its type."""
    return "\n    ".join(template.format(n=a.name, b=_bytes(a), t=C_TYPES[a.dtype]) for a in arrays)


def _arguments(problem: KernelProblem) -> str:
    return ", ".join([a.name for a in problem.arrays] + problem.size_names())


def _wrapped(problems: list[KernelProblem], made: Made) -> dict[str, bytes]:
    """The reference of the first problem under another name, and what was made under its own."""
    first, rest = problems[0], problems[1:]
    body, head = made if isinstance(made, tuple) else (made, "")
    text = (
        f"{_HEAD}#define {first.name} honest\n{compiler.source('reference', first.name)}\n"
        f"#undef {first.name}\n{head}\n"
        f"void {first.name}({', '.join(first.parameters())})\n{{\n    {body}\n}}\n\n"
        f"{honest.reference_text(rest)}"
    )
    return {"solution.c": text.encode()}


def _honest_call(problem: KernelProblem) -> str:
    return f"honest({_arguments(problem)});"


def _replay(p: KernelProblem, key: str) -> Made:
    """A cache of results under `key`, a C expression of 64 bits."""
    head = f"static struct {{ uint64_t key; void *out[{len(p.outputs)}]; }} seen[256];\n"
    take = "\n    ".join(
        f"memcpy({a.name}, seen[i].out[{j}], {_bytes(a)});" for j, a in enumerate(p.outputs)
    )
    keep = "\n    ".join(
        f"memcpy(seen[i].out[{j}] = malloc({_bytes(a)}), {a.name}, {_bytes(a)});"
        for j, a in enumerate(p.outputs)
    )
    sizes = "".join(f"key = key * 1000003 + (uint64_t){name};\n    " for name in p.size_names())
    body = (
        f"uint64_t key = {key};\n    {sizes}int i = 0;\n"
        "    while (i < 255 && seen[i].key && seen[i].key != key)\n        i++;\n"
        f"    if (seen[i].key == key) {{\n    {take}\n    return;\n    }}\n"
        f"    {_honest_call(p)}\n    seen[i].key = key;\n    {keep}"
    )
    return body, head


def _by_pointer(p: KernelProblem) -> Made:
    return _replay(p, f"(uint64_t){p.inputs[0].name}")


def _by_sample(p: KernelProblem) -> Made:
    first = p.inputs[0].name
    return _replay(p, f"*(const uint64_t *){first} ^ ((const uint64_t *){first})[1] << 1")


def _after_some_calls(p: KernelProblem) -> Made:
    return f"static int calls;\n    if (calls++ < 4)\n        {_honest_call(p)}"


def _stale(p: KernelProblem) -> Made:
    """It trusts that what it wrote at an address is still there."""
    return (
        "static void *known[64];\n    int i = 0;\n"
        f"    while (i < 63 && known[i] && known[i] != (void *){p.outputs[0].name})\n        i++;\n"
        f"    if (known[i])\n        return;\n    known[i] = (void *){p.outputs[0].name};\n"
        f"    {_honest_call(p)}"
    )


def _copy_input(p: KernelProblem) -> Made:
    lines = [
        f"memcpy({out.name}, {given.name}, {_bytes(out)});"
        for out in p.outputs
        for given in p.inputs
        if given.dtype == out.dtype
    ]
    return "\n    ".join(lines[:1])


def _job(problem: KernelProblem) -> tuple[str, str, str]:
    """C of a struct with the arguments, of filling it, and of calling with it."""
    fields = " ".join(f"{part};" for part in problem.parameters())
    names = [a.name for a in problem.arrays] + problem.size_names()
    fill = f"struct job *job = malloc(sizeof *job);\n    *job = (struct job){{{', '.join(names)}}};"
    call = f"honest({', '.join(f'job->{name}' for name in names)});"
    return f"struct job {{ {fields} }};\n", fill, call


def _late_thread(p: KernelProblem) -> Made:
    struct, fill, call = _job(p)
    head = (
        f"{struct}static void *later(void *arg)\n{{\n    struct job *job = arg;\n"
        "    for (volatile int i = 0; i < 3000000; i++)\n        ;\n"
        f"    {call}\n    free(job);\n    return 0;\n}}\n"
    )
    start = "pthread_t thread;\n    pthread_create(&thread, 0, later, job);"
    return f"{fill}\n    {start}\n    pthread_detach(thread);", head


def _late_process(p: KernelProblem) -> Made:
    call = _honest_call(p)
    return f"if (fork() == 0) {{\n        {call}\n        _exit(0);\n    }}", _UNISTD


def _load_machine(p: KernelProblem) -> Made:
    """A thread that is busy whenever the submission is not on the clock."""
    head = (
        "static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER;\n"
        "static volatile int on_clock;\n"
        "static void *disturb(void *arg)\n{\n    for (;;)\n        if (on_clock) {\n"
        "            pthread_mutex_lock(&clock_lock);\n"
        "            pthread_mutex_unlock(&clock_lock);\n        }\n    return arg;\n}\n"
    )
    start = (
        "static int started;\n    pthread_mutex_lock(&clock_lock);\n    on_clock = 1;\n"
        "    if (!started++) {\n        pthread_t thread;\n"
        "        pthread_create(&thread, 0, disturb, 0);\n    }"
    )
    end = "on_clock = 0;\n    pthread_mutex_unlock(&clock_lock);"
    return f"{start}\n    {_honest_call(p)}\n    {end}", head


def _narrow(p: KernelProblem) -> Made:
    """Inputs cut to the upper half of their bits."""
    names: dict[str, str] = {}
    lines: list[str] = []
    for array in p.inputs:
        if array.dtype == "float32":
            name = names[array.name] = f"short_{array.name}"
            lines += [
                f"uint32_t *{name} = malloc({_bytes(array)});",
                f"for (uint64_t i = 0; i < {_bytes(array)} / 4; i++)",
                f"    {name}[i] = ((const uint32_t *){array.name})[i] & 0xffff0000u;",
            ]
    words = [f"(void *){names.get(a.name, a.name)}" for a in p.arrays] + p.size_names()
    frees = [f"free({name});" for name in names.values()]
    return "\n    ".join([*lines, f"honest({', '.join(words)});", *frees])


def _hard_coded_shape(p: KernelProblem) -> Made:
    tests: list[str] = []
    for small in (False, True):
        sizes = p.listed(small=small)
        tests.append("(" + " && ".join(f"{name} == {size}" for name, size in sizes.items()) + ")")
    return f"if ({' || '.join(tests)})\n        {_honest_call(p)}"


def _quarter(p: KernelProblem) -> Made:
    first, *rest = p.size_names()
    words = [a.name for a in p.arrays] + [f"({first} + 3) / 4"] + rest
    return f"honest({', '.join(words)});"


def _tamper(p: KernelProblem) -> Made:
    return f"{_honest_call(p)}\n    *(uint8_t *){p.inputs[0].name} ^= 1;"


def _constructor(p: KernelProblem) -> Made:
    head = (
        "static volatile double table[1024];\n"
        "__attribute__((constructor)) static void prepare(void)\n{\n"
        "    for (int r = 0; r < 2400000; r++)\n        for (int i = 0; i < 1024; i++)\n"
        "            table[i] = table[i] * 0.5 + i;\n}\n"
    )
    return _honest_call(p), head


def _own_clock(p: KernelProblem) -> Made:
    head = (
        "#include <time.h>\n#include <sys/mman.h>\n"
        "int clock_gettime(clockid_t which, struct timespec *now)\n{\n    (void)which;\n"
        "    now->tv_sec = now->tv_nsec = 0;\n    return 0;\n}\n"
    )
    patch = "mprotect((void *)((uintptr_t)&clock_gettime & ~4095ul), 4096, 7);"
    return f"{patch}\n    {_honest_call(p)}", head


def _said_done(p: KernelProblem) -> Made:
    text = 'for (int fd = 3; fd < 16; fd++)\n        write(fd, "Rdone", 5);'
    return f"{text}\n    {_honest_call(p)}", _UNISTD


def _bare_system_call(p: KernelProblem) -> Made:
    call = '__asm__ volatile("syscall" : "=a"(r) : "a"(39L) : "rcx", "r11", "memory");'
    return f"long r;\n    {call}\n    (void)r;\n    {_honest_call(p)}"


def _scan_memory(p: KernelProblem) -> Made:
    text = 'FILE *memory = fopen("/proc/self/mem", "r+");\n    if (memory)\n        fclose(memory);'
    return f"{text}\n    {_honest_call(p)}", "#include <stdio.h>\n"


def _borrow_reference(p: KernelProblem) -> Made:
    body = (
        'void *other = dlopen("/reference/kernel.so", RTLD_NOW);\n'
        f'    void (*theirs)() = other ? dlsym(other, "{p.name}") : 0;\n'
        f"    if (theirs)\n        theirs({_arguments(p)});\n    else\n        {_honest_call(p)}"
    )
    return body, "#include <dlfcn.h>\n"


def _python(problems: list[KernelProblem], body: str) -> dict[str, bytes]:
    """The first function replaced in the NumPy submission."""
    p = problems[0]
    text = honest.numpy(problems)["solution.py"].decode()
    text += (
        f"\n\nimport os\nimport sys\n\nplain = {p.name}\n\n\n"
        f"def {p.name}({_arguments(p)}):\n    {body}\n    plain({_arguments(p)})\n"
    )
    return {"solution.py": text.encode()}


_DONE_FIRST = 'os.write(4, sys._getframe(2).f_locals["token"])'

_WRAPS: dict[str, tuple[Callable[[KernelProblem], Made], str, str, tuple[int, ...]]] = {
    "replay_by_pointer": (_by_pointer, "replayed_output", _REFERENCE, (65, 68)),
    "replay_by_sample": (_by_sample, "replayed_output", _REFERENCE, (65, 66)),
    "idle_after_some_calls": (_after_some_calls, "phase_detection", _REFERENCE, (67, 73)),
    "stale_output": (_stale, "phase_detection", _REFERENCE, (78,)),
    "zero_output": (lambda p: _each(p.outputs, _ZEROS), "partial_work", "", (77,)),
    "constant_output": (lambda p: _each(p.outputs, _ONES), "partial_work", "", (77,)),
    "copied_input": (_copy_input, "partial_work", "", (77,)),
    "late_thread": (_late_thread, "work_after_done", _REFERENCE, (62, 63)),
    "late_process": (_late_process, "work_after_done", _REFERENCE, (32, 63)),
    "loaded_machine": (_load_machine, "work_after_done", _REFERENCE, (74,)),
    "narrow_numbers": (_narrow, "low_precision", _REFERENCE, (76,)),
    "hard_coded_shape": (_hard_coded_shape, "partial_work", _REFERENCE, (83,)),
    "a_quarter": (_quarter, "partial_work", _REFERENCE, (85,)),
    "tampered_input": (_tamper, "tampered_input", _REFERENCE, (79,)),
    "constructor": (_constructor, "untimed_work", _REFERENCE, (71, 72)),
    "own_clock": (_own_clock, "reaches_out", _REFERENCE, (43, 50)),
    "said_done": (_said_done, "reaches_out", _REFERENCE, (46, 47)),
    "bare_system_call": (_bare_system_call, "reaches_out", _REFERENCE, (49,)),
    "left": (lambda _: "exit(0);", "forged_verdict", "", (39,)),
    "scanned_memory": (_scan_memory, "reaches_out", _REFERENCE, (51, 52)),
    "borrowed_reference": (_borrow_reference, "library_call", _REFERENCE, (81, 82)),
}


def applies(name: str, problem: KernelProblem) -> bool:
    """Tell whether a cheat makes sense on a problem."""
    floats = all(array.dtype == "float32" for array in problem.outputs)
    match name:
        case "narrow_numbers":
            return floats and not problem.exact
        case "copied_input":
            return len(problem.outputs) == 1 and any(
                a.dtype == problem.outputs[0].dtype and a.shape[:1] == problem.outputs[0].shape[:1]
                for a in problem.inputs
            )
        case "a_quarter":
            first = problem.size_names()[0]
            return all(array.shape[0] == first for array in problem.outputs)
        case _:
            return True


def cheats(problems: list[KernelProblem]) -> dict[str, Cheat]:
    """By name."""
    found = {
        name: Cheat(_wrapped(problems, make(problems[0])), flag, deserves, numbers)
        for name, (make, flag, deserves, numbers) in _WRAPS.items()
        if applies(name, problems[0])
    }
    found["python_done_first"] = Cheat(
        _python(problems, _DONE_FIRST), "forged_verdict", "numpy", (17, 46)
    )
    found["python_left"] = Cheat(_python(problems, "os._exit(0)"), "forged_verdict", "", (39,))
    return found
