"""What untrusted code may use."""

import resource
from dataclasses import dataclass

MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """One submission's share.

    cell_seconds, notebook_seconds: wall time; cpu_seconds: processor time of one process.
    memory: bytes of all processes together; address_space: virtual bytes of one process (torch alone maps 3 GiB).
    processes: how many at once; file_bytes: the size of one file; disk_bytes: all files that the code writes.
    output_bytes: what one cell may print or display, and four times as much for the whole notebook.
    """

    cell_seconds: float = 30
    notebook_seconds: float = 180
    cpu_seconds: int = 240
    memory: int = 1536 * MIB
    address_space: int = 8192 * MIB
    processes: int = 64
    file_bytes: int = 64 * MIB
    disk_bytes: int = 256 * MIB
    output_bytes: int = 200_000

    def resources(self) -> dict[int, int]:
        """The limits that the operating system itself keeps, for each process."""
        return {resource.RLIMIT_AS: self.address_space, resource.RLIMIT_CPU: self.cpu_seconds,
                resource.RLIMIT_FSIZE: self.file_bytes, resource.RLIMIT_CORE: 0, resource.RLIMIT_NOFILE: 512}

    def apply(self) -> None:
        """Set these limits for this process and all that it starts."""
        for which, value in self.resources().items():
            hard = resource.getrlimit(which)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(which, (value, value))
