"""`autograder serve`: the built book on a port of this computer, and nowhere else."""

import argparse
import errno
import socket
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from autograder.settings import REPOSITORY

BUILT_BOOK = REPOSITORY / "_build" / "html"
HOST = "127.0.0.1"


class PortInUse(OSError):
    """A port that something else listens on; the message names it and the way out."""

    def __init__(self, port: int, target: str):
        super().__init__(f"Port {port} is in use: stop what listens there, or choose another one with "
                         f"`make {target} PORT={port + 1}`.")


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files, logs nothing."""

    def log_message(self, *args) -> None:
        pass


def port_number(text: str) -> int:
    """The type of `--port`: a port that anybody may listen on."""
    if not (text.isdecimal() and 1024 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port for this: choose a number from 1024 to 65535.")
    return int(text)


def require_free_port(port: int, target: str) -> None:
    """Raises PortInUse where something listens on the port; `target` is the make target for the remedy."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise PortInUse(port, target) from None


def book_server(folder: Path = BUILT_BOOK, port: int = 0) -> ThreadingHTTPServer:
    """A server for the folder that listens already; port 0 takes any free one."""
    return ThreadingHTTPServer((HOST, port), partial(QuietHandler, directory=str(folder)))


def serve_in_thread(folder: Path = BUILT_BOOK) -> str:
    """Serve the folder on a free port for as long as the process lives; returns the address."""
    server = book_server(folder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://{HOST}:{server.server_port}"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="autograder serve", description=__doc__)
    parser.add_argument("--port", type=port_number, default=8000, help="the port (default 8000)")
    port = parser.parse_args(argv).port
    if not (BUILT_BOOK / "index.html").exists():
        print("The book is not built yet: run `make book` first.", file=sys.stderr)
        return 1
    try:
        require_free_port(port, "serve")
    except PortInUse as error:
        print(error, file=sys.stderr)
        return 1
    with book_server(port=port) as server:
        print(f"The book is at http://{HOST}:{server.server_port}/ (Ctrl-C ends).", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("\nThe book is closed.")
    return 0
