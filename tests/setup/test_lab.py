"""`autograder lab`: copies that are never overwritten, and a JupyterLab that starts without questions."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from class_tools import free_port
from full_disk import full_disk

from autograder import lab, serve
from autograder.settings import book_link


@pytest.fixture
def folders(tmp_path):
    exercises, work = tmp_path / "exercises", tmp_path / "work"
    for name in ("04_a/a.ipynb", "05_b/b.ipynb", "05_b/data/table.csv", "05_b/.ipynb_checkpoints/b.ipynb"):
        (exercises / name).parent.mkdir(parents=True, exist_ok=True)
        (exercises / name).write_text(f"exercise {name}")
    (exercises / "README.md").write_text("generated")
    return exercises, work


def test_what_is_missing_is_copied(folders):
    exercises, work = folders
    copied, kept = lab.copy_missing(exercises, work)
    assert (copied, kept) == (["04_a/a.ipynb", "05_b/b.ipynb", "05_b/data/table.csv"], [])
    assert (work / "05_b/data/table.csv").read_text() == "exercise 05_b/data/table.csv"
    assert not (work / "README.md").exists() and not (work / "05_b/.ipynb_checkpoints").exists()


def test_an_answer_is_never_overwritten(folders):
    exercises, work = folders
    (work / "05_b").mkdir(parents=True)
    (work / "05_b/b.ipynb").write_text("my answer")
    copied, kept = lab.copy_missing(exercises, work)
    assert kept == ["05_b/b.ipynb"] and "05_b/b.ipynb" not in copied
    assert (work / "05_b/b.ipynb").read_text() == "my answer"
    assert lab.copy_missing(exercises, work)[0] == []


def test_a_full_disk_leaves_no_half_copy_and_is_one_sentence(folders, monkeypatch, capsys):
    exercises, work = folders
    monkeypatch.setattr(lab, "EXERCISES", exercises)
    monkeypatch.setattr(lab, "WORK", work)
    with full_disk():
        assert lab.main(["--port", str(free_port())]) == 1
    said = capsys.readouterr().err
    assert said.startswith("lab: ") and said.count("\n") == 1
    assert "04_a/a.ipynb" in said and "make room" in said and "run `make lab` again" in said
    assert [path for path in work.rglob("*") if path.is_file()] == []
    assert "04_a/a.ipynb" in lab.copy_missing(exercises, work)[0]


def test_it_says_what_it_copied_and_what_it_kept(capsys):
    lab.tell(["04_a/a.ipynb"], ["05_b/b.ipynb"])
    assert capsys.readouterr().out == "work/04_a/a.ipynb: a new copy\nwork/05_b/b.ipynb: kept as you left it\n"


def test_links_lead_to_the_served_book(monkeypatch):
    monkeypatch.delenv("BOOK_URL", raising=False)
    environment = lab.lab_environment("http://127.0.0.1:5000")
    monkeypatch.setenv("BOOK_URL", environment["BOOK_URL"])
    assert book_link("05_scaling#a-b") == "http://127.0.0.1:5000/book/05_scaling.html#a-b"


def test_a_book_elsewhere_stays_where_it_is(monkeypatch):
    monkeypatch.setenv("BOOK_URL", "https://example.org/book")
    assert "BOOK_URL" not in lab.lab_environment("http://127.0.0.1:5000")


@pytest.mark.parametrize("main, target", [(lab.main, "lab"), (serve.main, "serve")])
def test_a_port_in_use_is_one_sentence(main, target, capsys, tmp_path, monkeypatch):
    (tmp_path / "index.html").write_text("book")
    monkeypatch.setattr(serve, "BUILT_BOOK", tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["--port", str(port)]) == 1
    assert capsys.readouterr().err == (f"Port {port} is in use: stop what listens there, or choose another one "
                                       f"with `make {target} PORT={port + 1}`.\n")


@pytest.mark.parametrize("port", ["80", "99999", "-1", "abc"])
@pytest.mark.parametrize("main", [lab.main, serve.main])
def test_what_is_no_port_is_one_sentence(main, port, capsys):
    with pytest.raises(SystemExit):
        main([f"--port={port}"])
    assert f"{port!r} is no port for this: choose a number from 1024 to 65535." in capsys.readouterr().err


def test_the_book_is_served_as_it_lies_there(tmp_path):
    (tmp_path / "index.html").write_text("the book")
    with urllib.request.urlopen(f"{serve.serve_in_thread(tmp_path)}/index.html", timeout=10) as page:
        assert page.read() == b"the book"


def test_without_a_built_book_serve_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(serve, "BUILT_BOOK", tmp_path)
    assert serve.main([]) == 1
    assert "make book" in capsys.readouterr().err


def answer(url: str, seconds: float = 300):
    """The JSON that the address gives, as soon as something answers there."""
    until = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as reply:
                return json.load(reply)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def test_jupyterlab_starts_on_the_copies_and_ctrl_c_ends_it(folders, tmp_path):
    exercises, work = folders
    start = ("import sys; from pathlib import Path; from autograder import lab;"
             f"lab.EXERCISES, lab.WORK = Path({str(exercises)!r}), Path({str(work)!r});"
             "sys.exit(lab.main(sys.argv[1:]))")
    port = free_port()
    environment = {**os.environ, "HOME": str(tmp_path), "JUPYTER_TOKEN": "secret"}
    process = subprocess.Popen([sys.executable, "-c", start, "--port", str(port), "--no-browser"], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, cwd=tmp_path)
    try:
        address = f"http://127.0.0.1:{port}"
        contents = answer(f"{address}/api/contents?token=secret")
        name = "@jupyterlab/apputils-extension:notification"
        news = answer(f"{address}/lab/api/settings/{name}?token=secret")
    finally:
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=120)[0]
    assert sorted(item["name"] for item in contents["content"]) == ["04_a", "05_b"]
    assert news["schema"]["properties"]["fetchNews"]["default"] == "false"
    assert process.returncode == 0
    assert f"JupyterLab: http://localhost:{port}/lab?token=secret (Ctrl-C ends)" in output
    assert "Traceback" not in output
