"""The programs that claims are tested with: Python's standard library and the driver, no more."""

from __future__ import annotations

PREAMBLE = '''
import ctypes, os, socket, stat, time
peer = socket.socket(fileno=3)
def say(*words):
    peer.send(" ".join(["said", *map(str, words)]).encode())
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code:
        raise OSError(f"{name} failed with code {code}")
def begin():
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
def take(size):
    place = ctypes.c_ulonglong()
    call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(size))
    return place
KERNELS = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 p) {
    .reg .u64 %a<3>; .reg .u32 %r<2>;
    ld.param.u64 %a0, [p]; mov.u32 %r0, %tid.x; add.u32 %r1, %r0, %r0;
    mul.wide.u32 %a1, %r0, 4; add.u64 %a2, %a0, %a1; st.global.u32 [%a2], %r1; ret;
}
.visible .entry endless(.param .u64 p) {
    .reg .u64 %a; .reg .u32 %r; .reg .pred %q;
    ld.param.u64 %a, [p];
AGAIN:
    ld.volatile.global.u32 %r, [%a]; setp.ne.u32 %q, %r, 4294967295; @%q bra AGAIN; ret;
}
"""
def launch(name, place, threads, blocks=1):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), KERNELS + b"\\0")
    call("cuModuleGetFunction", ctypes.byref(function), module, name)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(place))
    call("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, None, arguments, None)
'''
COMPUTE = """
begin()
place = take(4096)
launch(b"twice", place, 256)
call("cuCtxSynchronize")
there = (ctypes.c_uint * 256)()
call("cuMemcpyDtoH_v2", there, place, ctypes.c_size_t(1024))
say("right" if list(there) == list(range(0, 512, 2)) else "wrong")
"""
NODES = """
names = [n for n in os.listdir("/dev") if stat.S_ISCHR(os.stat("/dev/" + n).st_mode)]
try:
    os.mknod("/tmp/node", 0o666 | stat.S_IFCHR, os.makedev(195, 255))
    names.append("made")
except OSError:
    pass
say(*names)
"""
COUNT = """
call("cuInit", 0)
count = ctypes.c_int()
call("cuDeviceGetCount", ctypes.byref(count))
say(count.value)
"""
NETWORK = """
found = []
for family, place in ((socket.AF_INET, ("127.0.0.1", {port})), (socket.AF_UNIX, "\\0{name}")):
    try:
        socket.socket(family).connect(place)
        found.append(family.name)
    except OSError:
        pass
say(*found)
"""
PROCESSES = """
begin()
found = [n for n in os.listdir("/proc") if n.isdigit() and int(n) not in (1, os.getpid())]
for pid in ({pid}, {parent}):
    if pid in (1, os.getpid()):
        continue
    for name in ("mem", "maps", "environ", "fd"):
        if os.path.exists(f"/proc/{{pid}}/{{name}}"):
            found.append(f"{{pid}}/{{name}}")
say(*found)
"""
CALLS = """
call_number = ctypes.CDLL(None, use_errno=True).syscall
open_ones = []
for name, number, arguments in {calls}:
    ctypes.set_errno(0)
    call_number(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments])
    if ctypes.get_errno() not in (1, 38):
        open_ones.append(name)
say(*open_ones)
"""
LEAVE = """
begin()
place = take({size})
call("cuMemsetD32_v2", place, ctypes.c_uint({word}), ctypes.c_size_t({size} // 4))
call("cuCtxSynchronize")
say("left")
peer.recv(1)
"""
FIND = """
begin()
word = ctypes.c_uint({word}).value.to_bytes(4, "little") * 16
found = 0
part = ctypes.create_string_buffer(64 << 20)
for _ in range({blocks}):
    place = take(len(part))
    call("cuMemcpyDtoH_v2", part, place, ctypes.c_size_t(len(part)))
    found += part.raw.count(word)
say(found)
"""
ENDLESS = """
begin()
place = take(4096)
call("cuMemsetD32_v2", place, 0, ctypes.c_size_t(1024))
launch(b"endless", place, 1024, 1024)
say("on")
call("cuCtxSynchronize")
say("ended")
"""
FILL_CARD = """
begin()
kept = []
try:
    while True:
        kept.append(take(256 << 20))
except OSError:  # full, which takes some milliseconds on an empty card: the watch has its time
    time.sleep(600)
"""
FILL_HOST = """
begin()
kept = []
while True:
    kept.append(bytearray(os.urandom(1 << 20)) * 64)
"""
