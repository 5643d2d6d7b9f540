"""A trusted process that has the libraries loaded and gives sandboxes their kernel by forking: run as a script.

Bubblewrap builds the walls as always, around a process that only waits. For each request a fork of this process, which
has run nothing but imports, moves into the namespaces of that waiting process, gives up every privilege for good,
takes the limits and the filter for system calls, and only then becomes the kernel. So a sandbox holds what it always
holds, and the second that loading torch takes is paid once. It imports nothing of this package.

On the socket that is its standard input it reads one JSON line a request and answers with the kernel's process
descriptor (a pidfd); a request that fails is answered without one.
"""

import ctypes
import gc
import importlib
import json
import os
import random
import resource
import signal
import socket
import sys
from functools import partial

LOADED = ("torch", "numpy.random", "torch.fx.experimental.symbolic_shapes",  # the last: every first backward loads it
          "ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.debugger", "comm", "IPython.core.completerlib",
          "IPython.extensions.storemagic", "tornado.platform.asyncio", "tornado.queues", "tornado.gen",
          "IPython.core.oinspect", "IPython.core.logger", "IPython.core.debugger", "tomllib",
          "stack_data", "pygments.formatters.terminal256", "torch._subclasses.schema_check_mode")  # errors and tensors
NAMESPACES = 0x10000000 | 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000 | 0x02000000
"""User, mount, process, network, IPC, host name and cgroup."""
CAPABILITY_DROP, SET_SECCOMP, SET_CHILD_SUBREAPER, SET_NO_NEW_PRIVILEGES, AMBIENT, CLEAR_ALL = 24, 22, 36, 38, 47, 4
FILTER, COLLAPSE, HUGE = 2, 25, 2**21
CAPABILITY_VERSION = 0x20080522
LAST_CAPABILITY = 63
libc = ctypes.CDLL(None, use_errno=True)


def must(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Program(ctypes.Structure):
    """The kernel's sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def use_huge_pages() -> None:
    """Ask for the memory of this process in huge pages, where there are any: a fork then has less to copy."""
    with open("/proc/self/maps") as file:
        regions = [line.split() for line in file]
    for first, last in (map(partial(int, base=16), fields[0].split("-")) for fields in regions if is_own(fields)):
        start = -(-first // HUGE) * HUGE
        if start + HUGE <= last:
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(last // HUGE * HUGE - start), COLLAPSE)


def is_own(region: list[str]) -> bool:
    """Whether a line of /proc/self/maps is writable memory that no file stands behind."""
    return "w" in region[1] and (len(region) == 5 or region[5] == "[heap]")


def enter(process: int) -> None:
    """Move into a process's namespaces; children of this process will be in them."""
    root = os.open(f"/proc/{process}/root", os.O_PATH | os.O_DIRECTORY)
    descriptor = os.pidfd_open(process)
    must(libc.setns(descriptor, NAMESPACES))
    os.fchdir(root)
    os.chroot(".")
    os.chdir("/")


def give_up_privileges() -> None:
    """No capability in any set, and no way to get one back."""
    must(libc.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    must(libc.prctl(AMBIENT, CLEAR_ALL, 0, 0, 0))
    for capability in range(LAST_CAPABILITY + 1):
        if libc.prctl(CAPABILITY_DROP, capability, 0, 0, 0) != 0:
            break  # the kernel has no more of them
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    must(libc.capset(header, (ctypes.c_uint32 * 6)()))


def take_limits(limits: list[list[int]], seccomp: str) -> None:
    for which, value in limits:
        hard = resource.getrlimit(which)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, value))
    if seccomp:
        steps = bytes.fromhex(seccomp)
        must(libc.prctl(SET_SECCOMP, FILTER, ctypes.byref(Program(len(steps) // 8, steps)), 0, 0))


def require_nothing_left() -> None:
    """The last look before strangers' code: raises where anything but the walls' own is within reach."""
    with open("/proc/self/status") as file:
        status = dict(line.split(":", 1) for line in file)
    powers = [int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")]
    open_files = set(os.listdir("/proc/self/fd")) - {"0", "1", "2", "3"}  # 3 is the listing's own
    if any(powers) or open_files or int(status["NoNewPrivs"]) != 1:
        raise RuntimeError(f"The sandbox kept something: {powers}, {open_files}")


def become_kernel(request: dict) -> None:
    """In the forked process, inside the walls: never returns."""
    os.setsid()
    os.chdir(request["folder"])
    nothing = os.open("/dev/null", os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    os.closerange(3, 4096)
    give_up_privileges()
    os.environ.clear()
    os.environ.update(request["environment"])
    take_limits(request["limits"], request["seccomp"])
    require_nothing_left()
    random.seed(0)  # a fork draws a new one
    sys.path_importer_cache.clear()
    importlib.invalidate_caches()
    sys.argv = ["ipykernel_launcher", *request["arguments"]]
    sys.modules["ipykernel.kernelapp"].launch_new_instance(argv=request["arguments"])


def serve(request: dict, connection: socket.socket) -> None:
    """In a first fork: enter, fork the kernel, and tell the other side which process it is."""
    enter(request["process"])
    kernel = os.fork()
    if kernel == 0:
        try:
            become_kernel(request)
        finally:
            os._exit(1)
    socket.send_fds(connection, [b"+"], [os.pidfd_open(kernel)])


def main() -> None:
    must(libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0))  # kernels are this process's children,
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # which are buried at once: until then their walls stand
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in LOADED:
        importlib.import_module(name)
    for seed in (sys.modules["numpy"].random.seed, sys.modules["torch"].manual_seed):
        seed(0)  # the same outputs whenever it is run
    gc.collect()
    use_huge_pages()
    gc.freeze()  # a kernel's garbage collector would copy every page that it looks at
    connection = socket.socket(fileno=os.dup(0))
    single = len(os.listdir("/proc/self/task")) == 1  # a fork of several threads may hang on a lock
    connection.sendall(b"+" if single else b"-")
    for line in connection.makefile("r"):
        if os.fork() == 0:
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                serve(json.loads(line), connection)
            except BaseException:
                connection.sendall(b"-")
            finally:
                os._exit(0)


if __name__ == "__main__":
    main()
