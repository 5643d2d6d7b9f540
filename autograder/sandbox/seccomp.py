"""A filter for system calls: what no notebook needs and what could be used against the walls fails with EPERM.

The filter is a short classic BPF program, handed to bubblewrap as a file descriptor. On machines that are neither
x86-64 nor 64-bit ARM there is none, and the other walls stand alone.
"""

import errno
import os
import platform
import struct

ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE = 0, 4
"""Where the call's number and the architecture stand in the kernel's record."""

NEW_CALLS = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 440, 442)
"""io_uring, new mount interfaces, other processes' descriptors and memory: the same number everywhere."""

ARCHITECTURES: dict[str, tuple[int, tuple[int, ...]]] = {
    # ptrace, process_vm_*, kcmp, (u)mount, pivot_root, chroot, unshare, setns, keys, bpf, perf, userfaultfd, handles,
    # kexec, modules, acct, swap, reboot, quotactl, personality, syslog
    "x86_64": (0xC000003E, (101, 310, 311, 312, 165, 166, 155, 161, 272, 308, 248, 249, 250, 321, 298, 323, 303, 304,
                            246, 320, 175, 176, 313, 163, 167, 168, 169, 179, 135, 103)),
    "aarch64": (0xC00000B7, (117, 270, 271, 272, 40, 39, 41, 51, 97, 268, 217, 218, 219, 280, 241, 282, 264, 265,
                             104, 294, 105, 106, 273, 89, 224, 225, 142, 60, 92, 116)),
}


def program(machine: str = "") -> bytes | None:
    """The filter for this machine, or None where there is none."""
    machine = machine or platform.machine()
    if machine not in ARCHITECTURES:
        return None
    architecture, refused = ARCHITECTURES[machine]
    steps = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, REFUSE), (LOAD, 0, 0, NUMBER)]
    if machine == "x86_64":  # the x32 interface has numbers of its own
        steps += [(AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, REFUSE)]
    for number in (*refused, *NEW_CALLS):
        steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE)]
    return b"".join(struct.pack("=HBBI", *step) for step in (*steps, (RETURN, 0, 0, ALLOW)))


def as_descriptor() -> int | None:
    """The filter as an open file, for the process that starts bubblewrap; None where there is none."""
    filtered = program()
    if filtered is None:
        return None
    descriptor = os.memfd_create("seccomp")
    os.write(descriptor, filtered)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
