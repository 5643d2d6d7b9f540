"""What a result depends on, as a hash: every file that the judging reads, and nothing that tools leave beside them."""

import shutil

import pytest

from autograder import digests
from autograder.digests import digest, digest_of_code
from autograder.grading.store import JUDGES

PARTS = ("corpus", "judging", "learner/guard.py")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of this package, whose digest is computed anew whenever it is asked for."""
    folder = tmp_path / "autograder"
    shutil.copytree(digests.PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(digests, "PACKAGE", folder)
    monkeypatch.setattr(digests, "digest_of_code", digest_of_code.__wrapped__)
    return folder


@pytest.mark.parametrize("name", ["corpus/handed_out.txt.gz", "judging/judge.py", "learner/guard.py"])
def test_a_change_of_any_file_counts(package, name):
    before = digests.digest_of_code(PARTS)
    assert digests.digest_of_code(PARTS) == before
    (package / name).write_bytes((package / name).read_bytes() + b"\n")
    assert digests.digest_of_code(PARTS) != before


def test_modules_that_change_places_count(package):
    before = digests.digest_of_code(PARTS)
    (package / "judging/judge.py").rename(package / "corpus/judge.py")
    assert digests.digest_of_code(PARTS) != before


def test_bytecode_and_hidden_files_do_not_count(package):
    before = digests.digest_of_code(PARTS)
    for name in ("corpus/__pycache__/pairs.cpython-311.pyc", "corpus/.pairs.py.swp", "judging/.ipynb_checkpoints/x.py"):
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text("x")
    assert digests.digest_of_code(PARTS) == before


def test_the_parts_of_the_judging_are_all_there(package):
    for part in JUDGES:
        before = digests.digest_of_code(JUDGES)
        (package / part / "new.txt").touch()
        assert digests.digest_of_code(JUDGES) != before, part


def test_a_folder_is_its_names_and_contents(tmp_path):
    folder = tmp_path / "submission"
    folder.mkdir()
    seen = {digest(folder)}
    for name, text in (("a", "bc"), ("ab", "c"), ("a", "")):
        (folder / name).write_text(text)
        seen.add(digest(folder))
        (folder / name).unlink()
    (folder / "a").symlink_to("bc")
    assert len(seen | {digest(folder)}) == 5 and digest(folder, "seed") != digest(folder)
