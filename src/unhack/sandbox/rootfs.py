"""The host files that a sandbox sees: worked out on the host, mounted by `linux.namespaces`.

Covered: the standard library without site-packages, the C libraries, for programs `/usr`, four
device nodes (two for a submission's process, one for functions); all read-only. Nothing of /home,
/root, /etc, /proc, /sys or /var. A Python below a place that a sandbox has for itself, such as
/tmp, stands elsewhere inside (`inside`).
Not covered: secrets that somebody put under /usr or into the standard library.
"""

from __future__ import annotations

import contextlib
import glob
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from unhack.core.errors import UsageError
from unhack.sandbox.distributions import ENGINE, content_folders, content_packages
from unhack.sandbox.job import Kind, Profile, Role

_PACKAGES = ("site-packages", "dist-packages")
_RANDOM = "/dev/urandom"
"""Libraries that are preloaded for a submission open it when they begin."""
_DEVICES = ("/dev/zero", "/dev/full", _RANDOM)
_LIBRARY_DATA = ("/etc/ld.so.cache", "/usr/share/zoneinfo", "/usr/lib/locale")
"""Data of the C library and of `zoneinfo`: libraries by name, time zones, locales."""
_OWN = ("/tmp", "/dev", "/proc", "/sys", "/scratch", "/workspace", "/home/agent")
"""Places that a sandbox has for itself: what the host has there would be hidden, or in the way."""
_INSTALLED = "/installed"
"""The folder inside for what stands at such a place on the host."""
_BESIDE = f"{_INSTALLED}/beside"
"""The folder inside for packages that are preloaded and stand in no site-packages directory: they
are shown one by one, since anything may stand beside them on the host."""
COMMANDS = f"{_INSTALLED}/bin"
"""The folder inside where programs find this interpreter as `python` and `python3`."""
_NAMES = ("python", "python3")
_PARTS = ("bin", "include", "lib", "lib64", "share", "ssl")
"""The folders of a Python below its prefix. Others are not shown: the prefix may be somebody's
home, and in conda's first environment all the others lie."""
_LIBRARIES = f"{_INSTALLED}/lib"
_PROGRAM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/ld.so.conf", "/etc/ld.so.conf.d")


@dataclass(frozen=True, slots=True)
class RootSpec:
    """A root directory to be built; all paths absolute, sources already resolved."""

    binds: list[list[str]] = field(default_factory=list[list[str]])
    """[source, target] pairs, mounted read-only, no set-uid, no devices."""
    devices: list[str] = field(default_factory=list[str])
    symlinks: list[list[str]] = field(default_factory=list[list[str]])
    """[link, target] pairs."""
    masks: list[str] = field(default_factory=list[str])
    """Directories inside that are covered by an empty one."""
    sites: list[list[str]] = field(default_factory=list[list[str]])
    """[source, target] pairs of site-packages directories, visible while modules are preloaded."""
    moved: list[list[str]] = field(default_factory=list[list[str]])
    """[place on the host, place inside] pairs of the parts of Python that stand elsewhere."""
    keep_sites: bool = False
    withheld: list[str] = field(default_factory=list[str])
    """Top-level packages of site-packages that are never shown, whatever was preloaded."""
    scratch: bool = False

    def to_json(self) -> dict[str, Any]:
        """The form that the worker reads."""
        return asdict(self)

    @property
    def site_paths(self) -> list[str]:
        """The folders of packages as they are seen inside."""
        beside = any(os.path.dirname(target) == _BESIDE for _, target in self.binds)
        return [target for _, target in self.sites] + [_BESIDE] * beside


def inside(path: str, links: Iterable[str] = ()) -> str:
    """The place inside of a file of the installation. It is that of the host unless a sandbox has
    the place for itself, or a link of that name."""
    own = any(f"{path}/".startswith(f"{place}/") for place in (*_OWN, *links))
    return f"{_INSTALLED}{path}" if own else path


def interpreter() -> str:
    """The real interpreter behind a virtual environment or a shim."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable) or sys.executable)


@cache
def _python_library() -> str:
    """The shared library of this interpreter where programs inside would look for it in vain, or
    find that of the system's Python in its place: where it has moved, or does not stand below the
    prefix. Empty where there is none, or programs find it."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        mapped = {line.rstrip().partition("/")[2] for line in maps}
    for path in sorted(f"/{one}" for one in mapped if "/libpython3" in f"/{one}"):
        below = path.startswith((f"{os.path.realpath(sys.base_prefix)}/", "/usr/"))
        if os.path.isfile(path) and not (below and inside(path) == path):
            return path
    return ""


def program_environ() -> dict[str, str]:
    """The variables by which programs inside find the parts of this interpreter."""
    return {"LD_LIBRARY_PATH": _LIBRARIES} if _python_library() else {}


def site_directories() -> list[str]:
    """Every folder that this process imports from in which distributions are installed, a target of
    `pip install --target` among them. One inside another, where a package keeps its own copies of
    others and names it on the path, as Ray does, is a part of that package."""
    found: list[str] = []
    for path in sys.path:
        real = os.path.realpath(path) if path else ""
        known = not os.path.isdir(real) or real in found
        if not known and (os.path.basename(real) in _PACKAGES or _is_target(real)):
            found.append(real)
    return _outermost(found)


@cache
def _is_target(folder: str) -> bool:
    """True for a folder in which there is nothing but what pip has put there."""
    known = {"bin", "__pycache__"}
    for info in glob.iglob(f"{glob.escape(folder)}/*.dist-info"):
        known.add(os.path.basename(info))
        with contextlib.suppress(OSError, UnicodeDecodeError), open(f"{info}/RECORD") as lines:
            known |= {line.partition(",")[0].partition("/")[0] for line in lines}
    return len(known) > 2 and known.issuperset(os.listdir(folder))


def shown_sites(profile: Profile) -> list[str]:
    """The site-packages directories of a profile: none where a bind takes the place of the standard
    library, which then brings the packages that are preloaded."""
    own = {target for _, target in profile.binds} & {*map(inside, _standard_library())}
    needed = profile.site_packages or (profile.preload and not own)
    return site_directories() if needed else []


def packages_beside(names: Iterable[str]) -> dict[str, str]:
    """Of the modules `names` those that stand in no site-packages directory, each with its file or
    folder: of an editable install, of a folder that `PYTHONPATH` or a `.pth` file names."""
    tops = dict.fromkeys(name.partition(".")[0] for name in names)
    found = {name: _place_beside(name, tuple(sys.path)) for name in tops}
    return {name: place for name, place in found.items() if place}


@cache
def _place_beside(name: str, path: tuple[str, ...]) -> str:
    del path  # the answer is another one on another path
    if name in sys.stdlib_module_names or name in ENGINE:
        return ""
    spec = None
    with contextlib.suppress(ImportError, ValueError):  # a module without a place, as tests make
        spec = importlib.util.find_spec(name)
    place = next(iter(spec.submodule_search_locations or [spec.origin or ""])) if spec else ""
    real = os.path.realpath(place) if place else ""
    return real if os.path.exists(real) and os.path.dirname(real) not in site_directories() else ""


def _withheld(profile: Profile) -> list[str]:
    """The packages that hold answers, and for candidates the engine, which judges them.

    Raises UsageError for a profile that preloads one of them.
    """
    contents = content_packages()
    loaded = {name.partition(".")[0] for name in profile.preload} & contents
    if loaded:
        raise UsageError(
            f"{sorted(loaded)[0]} cannot be preloaded: its distribution brings contents (an entry "
            "point of a group unhack.…), and a job must not see those; put what jobs import into "
            "a distribution of its own"
        )
    return sorted(contents | ENGINE if profile.role is Role.CANDIDATE else contents)


def _library_directories() -> list[str]:
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    candidates = [f"/usr/lib/{multiarch}"] if multiarch else []
    if not any(os.path.isdir(path) for path in candidates):
        candidates = ["/usr/lib64", "/usr/lib"]
    separate = [f"/lib/{multiarch}", "/lib64"] if not os.path.islink("/lib") else []
    return [path for path in [*candidates, *separate] if os.path.isdir(path)]


def _top_symlinks() -> list[list[str]]:
    links = ("/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
    return [[path, os.readlink(path)] for path in links if os.path.islink(path)]


def _standard_library() -> list[str]:
    # Not `platstdlib` as it stands: in a virtual environment it is a path inside that environment.
    base = {"platbase": sys.base_exec_prefix, "base": sys.base_prefix}
    paths = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib", vars=base)}
    return sorted({os.path.realpath(path) for path in paths if path and os.path.isdir(path)})


def root_spec(profile: Profile, *, links: Iterable[tuple[str, str]] = ()) -> RootSpec:
    """The files of a profile; `links` are (link, target) pairs beside them. Raises UsageError for
    a bind whose source does not exist."""
    taken = [link for link, _ in links]
    stdlib = _standard_library()
    binds = [[path, inside(path, taken)] for path in stdlib]
    masks = [f"{path}/{name}" for path in stdlib for name in _PACKAGES]
    devices, symlinks = ["/dev/null"], [*_top_symlinks(), *map(list, links)]
    if profile.kind is Kind.PROGRAM:
        binds.insert(0, ["/usr", "/usr"])
        binds += [[path, path] for path in ("/bin", "/lib", "/lib64") if _plain_directory(path)]
        binds += [[path, path] for path in _PROGRAM_FILES if os.path.exists(path)]
        prefix = os.path.realpath(sys.base_prefix)
        if not prefix.startswith("/usr/") and prefix != "/usr":
            parts = [f"{prefix}/{name}" for name in _PARTS if os.path.isdir(f"{prefix}/{name}")]
            binds[1:1] = [[part, inside(part, taken)] for part in parts]
        symlinks += _python_links(prefix, taken)
        if library := _python_library():
            binds.append([library, f"{_LIBRARIES}/{os.path.basename(library)}"])
        masks += _installed_packages({"/usr", "/usr/local", prefix})
        shown = ("/usr/", f"{prefix}/")  # an environment or a checkout may stand there
        masks += [
            path for path in (*site_directories(), *content_folders()) if path.startswith(shown)
        ]
        devices += [path for path in _DEVICES if os.path.exists(path)]
    else:
        binds += [[path, path] for path in _library_directories()]
        binds += [[path, path] for path in _LIBRARY_DATA if os.path.exists(path)]
        if profile.kind is Kind.SCRATCH and os.path.exists(_RANDOM):
            devices.append(_RANDOM)
    for place in packages_beside(profile.preload).values():
        binds.append([place, f"{_BESIDE}/{os.path.basename(place)}"])
    for source, target in profile.binds:
        real = os.path.realpath(source)
        if not os.path.exists(real):
            raise UsageError(f"cannot mount {source} into the sandbox: no such file or directory")
        binds.append([real, target])
    return RootSpec(
        binds=binds,
        devices=devices,
        symlinks=symlinks,
        masks=[
            inside(path, taken)
            for path in _outermost([path for path in dict.fromkeys(masks) if os.path.isdir(path)])
        ],
        sites=[[path, inside(path, taken)] for path in shown_sites(profile)],
        moved=_moved(taken),
        keep_sites=profile.site_packages,
        withheld=_withheld(profile),
        scratch=profile.kind is not Kind.FUNCTION,
    )


def _moved(taken: list[str]) -> list[list[str]]:
    """The parts of Python that stand elsewhere inside."""
    prefix = os.path.realpath(sys.base_prefix)
    return [[path, inside(path, taken)] for path in dict.fromkeys((prefix, *_standard_library()))
            if inside(path, taken) != path]  # fmt: skip


def _python_links(prefix: str, taken: list[str]) -> list[list[str]]:
    """Links to this interpreter, for programs by its name and for an environment by the name that
    its prefix had when it was made: uv gives a link."""
    links = [[f"{COMMANDS}/{name}", inside(interpreter(), taken)] for name in _NAMES]
    named = os.path.normpath(sys.base_prefix)
    if named != prefix and inside(named, taken) == named:
        links.append([named, inside(prefix, taken)])
    return links


def _installed_packages(prefixes: set[str]) -> list[str]:
    """Directories of third-party packages that a mounted prefix would show; unhack may be one."""
    libraries = [f"{prefix}/{lib}" for prefix in sorted(prefixes) for lib in ("lib", "lib64")]
    found = [path for top in libraries for path in glob.glob(f"{top}/python3*/*-packages")]
    return [os.path.realpath(path) for path in found if os.path.basename(path) in _PACKAGES]


def _outermost(paths: list[str]) -> list[str]:
    """Those that lie in no other: below a covered directory nothing is there to be covered."""
    tops = tuple(f"{path}/" for path in paths)
    return [path for path in paths if not path.startswith(tops)]


def _plain_directory(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
