# SPDX-License-Identifier: Apache-2.0
"""The files of checkpoints and the log, without PyTorch: whole or not at all."""
import errno
import json
import os
import tempfile
import unittest
import zlib
from unittest import mock

from lm import checkpoint_files as files
from lm.log import Log
from lm.problem import NOT_SAVED, WRONG_USE, Problem

ABOUT = {"v": 1, "step": 5, "sequences": 60, "ranks": 3, "layout": "whole", "model": {"layers": 2}, "data": {}, "training": {}}


class InFolder(unittest.TestCase):
    """With a folder for checkpoints."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "checkpoints")

    def write(self, step, content=b"weights"):
        """A whole checkpoint."""
        file = files.CheckedFile(os.path.join(files.begin(self.folder, step), "state.pt"))
        file.write(content)
        file.close()
        files.finish(self.folder, step, {**ABOUT, "step": step, "files": {"state.pt": file.about()}})
        return os.path.join(self.folder, files.name_of(step))

    def names(self):
        """What is in the folder."""
        return sorted(os.listdir(self.folder))


class WritingTest(InFolder):
    """From nothing to a whole one."""

    def test_what_is_written_is_read(self):
        path = self.write(5)
        about = files.read_about(path)
        files.check_files(path, about)
        self.assertEqual((about["step"], about["files"]), (5, {"state.pt": {"bytes": 7, "crc32": f"{zlib.crc32(b'weights'):08x}"}}))

    def test_the_newest_are_kept_and_others_left_alone(self):
        for step in (5, 10, 200_000_000, 15):
            self.write(step)
        os.mkdir(os.path.join(self.folder, "step-00000001.damaged"))
        os.mkdir(os.path.join(self.folder, "step-1"))
        self.assertEqual(files.listed(self.folder), [200_000_000, 15, 10, 5])
        files.keep(self.folder, 2)
        self.assertEqual(self.names(), ["step-00000001.damaged", "step-00000015", "step-1", "step-200000000"])

    def test_what_a_killed_run_left_goes_and_is_never_taken_for_whole(self):
        self.write(5)
        files.begin(self.folder, 10)
        self.assertEqual(files.listed(self.folder), [5])
        files.begin(self.folder, 15)
        self.assertEqual(self.names(), ["step-00000005", "step-00000015.partial"])

    def test_the_same_step_again_replaces(self):
        self.write(5, b"old")
        path = self.write(5, b"newer")
        self.assertEqual(files.read_about(path)["files"]["state.pt"]["bytes"], 5)

    def test_damaged_ones_are_set_aside_under_names_of_their_own(self):
        for want in ("step-00000005.damaged", "step-00000005.damaged.1", "step-00000005.damaged.2"):
            self.write(5)
            self.assertEqual(files.set_aside(self.folder, 5), want)
        self.assertEqual(files.listed(self.folder), [])

    def test_without_a_folder_there_is_none(self):
        self.assertEqual(files.listed(self.folder), [])


class FullDisk(InFolder):
    """A disk that fills up, at each place where it shows."""

    def attempt(self, step):
        """Writes one as checkpoint.py does; the text of the Problem."""
        try:
            self.write(step)
        except OSError as error:
            problem = files.not_saved(self.folder, step, error)
            self.assertEqual(problem.status, NOT_SAVED)
            return str(problem)
        return "written"

    def test_the_older_one_stays_whole(self):
        old = self.write(5)
        no_space = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        for place in ("os.fsync", "os.mkdir", "os.rename", "lm.checkpoint_files.CheckedFile.close", "lm.checkpoint_files.sync_folder"):
            with mock.patch(place, side_effect=no_space):
                text = self.attempt(10)
            self.assertIn("step-00000010: cannot be written: No space left on device; step-00000005 is whole", text, place)
            self.assertIn("Make room", text)
            files.check_files(old, files.read_about(old))
            self.assertEqual(files.listed(self.folder), [5], place)
        self.assertEqual(self.attempt(10), "written")

    def test_the_first_one(self):
        with mock.patch("os.fsync", side_effect=OSError(errno.ENOSPC, "No space left on device")):
            self.assertIn("there is no older one", self.attempt(5))

    def test_an_error_while_writing_waits_for_the_end(self):
        file = files.CheckedFile("/dev/full")
        self.assertEqual(file.write(b"x"), 1)
        with self.assertRaisesRegex(OSError, "File exists"):  # only new files are written
            file.close()
        os.makedirs(self.folder)
        file = files.CheckedFile(os.path.join(self.folder, "state.pt"))
        file._file.close()  # pylint: disable=protected-access
        file._file = open("/dev/full", "wb", buffering=0)  # pylint: disable=protected-access,consider-using-with
        self.assertEqual((file.write(b"1"), file.write(b"22")), (1, 2))
        with self.assertRaisesRegex(OSError, "No space left on device"):
            file.close()


class ReadingTest(InFolder):
    """What cannot be used, by name."""

    def damaged(self, name, content):
        """Why a checkpoint is not whole in which that file has this content (None: is missing)."""
        path = self.write(5)
        file = os.path.join(path, name)
        if content is None:
            os.remove(file)
        else:
            with open(file, "wb") as out:
                out.write(content)
        with self.assertRaises(files.Damaged) as raised:
            files.check_files(path, files.read_about(path))
        return str(raised.exception)

    def test_damaged(self):
        whole = {**ABOUT, "files": {}}
        lacks = [({key: value for key, value in whole.items() if key != name}, f'about.json: no "{name}" of type') for name in whole]
        for name, content, want in (
                ("state.pt", None, "state.pt: No such file or directory"),
                ("state.pt", b"", "state.pt: has 0 bytes, expected 7"),
                ("state.pt", b"weight", "state.pt: has 6 bytes, expected 7"),
                ("state.pt", b"weights and more", "state.pt: has 16 bytes, expected 7"),
                ("state.pt", b"weightz", "state.pt: its sum (crc32) is "),
                ("about.json", None, "about.json: No such file or directory"),
                ("about.json", b"", "about.json: not JSON"),
                ("about.json", b'{"v": 1', "about.json: not JSON"),
                ("about.json", b"\xff\xfe", "about.json: not JSON"),
                ("about.json", b"[]", 'about.json: no "v" of type int'),
                ("about.json", b'{"v": "1"}', 'about.json: no "v" of type int'),
                *(("about.json", json.dumps(about).encode(), want) for about, want in lacks)):
            self.assertIn(want, self.damaged(name, content))

    def test_a_format_to_come_is_no_damage(self):
        path = self.write(5)
        with open(os.path.join(path, files.ABOUT), "w", encoding="ascii") as out:
            json.dump({"v": 2}, out)
        with self.assertRaises(Problem) as raised:
            files.read_about(path)
        self.assertIn("has format 2, this program reads 1", str(raised.exception))

    def test_each_rank_checks_its_part(self):
        path = self.write(5)
        about = files.read_about(path)
        os.remove(os.path.join(path, "state.pt"))
        files.check_files(path, about, lambda number: number == 1)
        with self.assertRaises(files.Damaged):
            files.check_files(path, about, lambda number: number == 0)

    def test_of_something_else(self):
        now = {"model": {"layers": 2, "width": 64}, "data": {"crc32": "aa"}, "layout": "whole"}
        files.check_fits("p", dict(now), now)
        for changed, want in (
                ({"model": {"layers": 4, "width": 64}}, "is of another model: layers: 4 in the checkpoint, 2 now. "),
                ({"model": {"layers": 4, "width": 32}}, "layers: 4 in the checkpoint, 2 now; width: 32 in the checkpoint, 64 now"),
                ({"model": {"layers": 2}}, "width: not set in the checkpoint, 64 now"),
                ({"model": {"layers": 2, "width": 64, "heads": 2}}, "heads: 2 in the checkpoint, not set now"),
                ({"data": {"crc32": "bb"}}, "is of another data: crc32: bb in the checkpoint, aa now"),
                ({"layout": "sharded"}, "is of another layout: layout: sharded in the checkpoint, whole now")):
            with self.assertRaises(Problem) as raised:
                files.check_fits("p", {**now, **changed}, now)
            self.assertIn(want, str(raised.exception))
            self.assertEqual(raised.exception.status, WRONG_USE)


class LogTest(InFolder):
    """JSON lines."""

    def lines(self):
        """The file's."""
        with open(self.folder, encoding="utf-8") as file:
            return file.read().split("\n")

    def test_lines_follow_those_of_the_run_before_and_a_torn_one_is_ended(self):
        with open(self.folder, "w", encoding="ascii") as file:
            file.write('{"v": 1}\n{"v": 1, "ev')
        log = Log(self.folder, lambda: 12.34567)
        log.add("step", step=1, loss=0.5, mfu=None)
        log.add("step", step=2, loss=float("nan"))
        self.assertEqual(self.lines()[1:], ['{"v": 1, "ev', '{"v": 1, "event": "step", "time": 12.346, "step": 1, "loss": 0.5}',
                                            '{"v": 1, "event": "step", "time": 12.346, "step": 2, "loss": "nan"}', ""])

    def test_a_full_disk_ends_the_log_with_one_message_and_not_the_training(self):
        log = Log("/dev/full", lambda: 0)
        with mock.patch("sys.stderr") as stderr:
            log.add("step", step=1)
            log.add("step", step=2)
        said = "".join(call.args[0] for call in stderr.write.call_args_list)
        self.assertEqual(said.count("No space left on device; the log ends here"), 1)

    def test_none_without_a_path(self):
        Log(None, lambda: 0).add("step", step=1)
        self.assertFalse(os.path.exists(self.folder))


if __name__ == "__main__":
    unittest.main()
