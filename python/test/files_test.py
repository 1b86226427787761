"""The package on a cluster: files_test.py DIRECTORY, with HADOOP_CONF_DIR and EBBFS_LIBRARY set."""

import concurrent.futures
import os
import pathlib
import pickle
import random
import sys
import tempfile
import unittest

import ebbfs

try:
    import fsspec
except ImportError:
    fsspec = None

ROOT = sys.argv.pop(1)


def some_bytes(size, seed):
    return random.Random(seed).randbytes(size)


class FilesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Large files have several blocks.
        cls.files = ebbfs.FileSystem(conf={"dfs.blocksize": 1 << 20})
        cls.addClassCleanup(cls.files.close)
        cls.directory = f"{ROOT}/files"
        cls.files.make_directory(cls.directory)

    def path(self, name):
        return f"{self.directory}/{name}"

    def write(self, name, content):
        with self.files.open(self.path(name), "wb") as out:
            out.write(content)
        return self.path(name)

    def test_bytes_come_back(self):
        for size in (0, 1, 65_535, 65_536, 3_000_000):
            content = some_bytes(size, size)
            path = self.write(f"of-{size}", content)
            with self.files.open(path) as file:
                self.assertEqual(file.size, size)
                self.assertEqual(file.read(), content)
                self.assertEqual(file.read(1), b"")
            self.assertEqual(self.files.stat(path).size, size)

    def test_reads_begin_anywhere(self):
        content = some_bytes(200_000, 1)
        with self.files.open(self.write("anywhere", content)) as file:
            random_places = random.Random(2)
            for _ in range(20):
                at = random_places.randrange(len(content))
                size = random_places.choice((1, 100, 70_000))
                self.assertEqual(file.seek(at), at)
                self.assertEqual(file.read(size), content[at : at + size])
                self.assertEqual(file.pread(size, at // 2), content[at // 2 : at // 2 + size])
                self.assertEqual(file.tell(), min(at + size, len(content)))
            self.assertEqual(file.seek(-5, os.SEEK_END), len(content) - 5)
            self.assertEqual(file.read(), content[-5:])
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                places = range(0, len(content), 10_000)
                for at, part in zip(places, pool.map(lambda at: file.pread(10_000, at), places)):
                    self.assertEqual(part, content[at : at + 10_000])

    def test_files_are_written_at_their_end(self):
        path = self.path("written")
        with self.files.open(path, "xb") as out:
            self.assertFalse(out.seekable())
            out.write(b"one ")
            out.hflush()
            with self.files.open(path) as file:
                self.assertEqual(file.read(), b"one ")
            out.write(memoryview(b"two "))
            out.hsync()
            self.assertEqual(out.tell(), 8)
        with self.files.open(path, "ab") as out:
            self.assertEqual(out.tell(), 8)
            out.write(bytearray(b"three"))
        with self.files.open(path) as file:
            self.assertEqual(file.read(), b"one two three")
        self.assertRaises(FileExistsError, self.files.open, path, "xb")
        self.files.open(path, "wb").close()
        self.assertEqual(self.files.stat(path).size, 0)
        with self.files.open(self.path("appended"), "ab") as out:
            out.write(b"new")
        self.assertRaises(ValueError, self.files.open, path, "r")

    def test_names_change(self):
        self.files.make_directory(self.path("names/sub"))
        path = self.write("names/a", b"abc")
        self.files.rename(path, self.path("names/b"))
        self.files.copy(self.path("names/b"), self.path("names/sub"))
        self.assertEqual([info.name for info in self.files.list(self.path("names"))], ["b", "sub"])
        self.assertEqual([info.path for info in self.files.list(self.path("names/sub"))], [self.path("names/sub/b")])
        self.write("names/c", b"other")
        self.assertRaises(FileExistsError, self.files.rename, self.path("names/b"), self.path("names/c"))
        self.files.replace(self.path("names/b"), self.path("names/c"))
        with self.files.open(self.path("names/c")) as file:
            self.assertEqual(file.read(), b"abc")
        with self.assertRaises(OSError):
            self.files.remove(self.path("names"))
        self.files.remove(self.path("names"), recursive=True)
        self.assertFalse(self.files.exists(self.path("names")))

    def test_attributes_change(self):
        path = self.write("attributes", b"abc")
        self.files.chmod(path, 0o640)
        self.files.utime(path, modified=1_000_000)
        self.files.set_replication(path, 1)
        info = self.files.stat(path)
        self.assertEqual((info.permissions, info.modified, info.replication), (0o640, 1_000_000, 1))
        self.assertFalse(info.is_directory or info.is_encrypted)
        self.assertTrue(self.files.hosts(path)[0][0])
        self.assertTrue(self.files.truncate(path, 0))
        self.assertGreater(self.files.capacity(), self.files.used())
        self.assertGreater(self.files.default_block_size(), 0)

    def test_a_status_is_kept_if_that_is_configured(self):
        path = self.write("kept", b"abc")
        with ebbfs.FileSystem(conf={"ebbfs.client.status.cache.millis": 600_000}) as keeping:
            self.assertEqual(keeping.stat(path).size, 3)
            self.files.remove(path)
            self.assertTrue(keeping.exists(path))
            with keeping.open(path, "wb") as out:
                out.write(b"abcd")
            self.assertEqual(keeping.stat(path).size, 4)
            keeping.remove(path)
            self.assertFalse(keeping.exists(path))

    def test_errors_are_those_of_local_files(self):
        missing = self.path("none")
        for call in (self.files.stat, self.files.list, self.files.open, self.files.remove):
            with self.assertRaises(FileNotFoundError) as caught:
                call(missing)
            self.assertEqual(caught.exception.filename, missing)
        for mode in ("rb", "wb", "ab"):
            self.assertRaises(IsADirectoryError, self.files.open, self.directory, mode)
        file = self.write("file", b"abc")
        self.assertRaises(NotADirectoryError, self.files.make_directory, file + "/below")
        self.assertRaises(FileNotFoundError, self.files.rename, missing, file)
        with ebbfs.FileSystem(user="nobody-special") as stranger:
            self.files.chmod(file, 0o600)
            self.assertRaises(PermissionError, stranger.open, file)
            self.assertRaises(PermissionError, stranger.open, self.path("of-stranger"), "wb")
        self.assertRaises(OSError, ebbfs.FileSystem, "file:///")


@unittest.skipIf(fsspec is None, "fsspec is not installed")
class FsspecTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # By its protocol, which the wheel has registered.
        cls.files = fsspec.filesystem("ebbfs")
        cls.directory = f"{ROOT}/fsspec"
        cls.files.makedirs(cls.directory, exist_ok=True)

    def path(self, name):
        return f"{self.directory}/{name}"

    def test_it_is_a_file_system_of_fsspec(self):
        files = self.files
        self.assertIsInstance(files, ebbfs.EbbFileSystem)
        self.assertIs(pickle.loads(pickle.dumps(files)), files)
        files.pipe({self.path("tree/a"): b"aa", self.path("tree/sub/b"): b"bbb"})
        self.assertEqual(files.find(self.path("tree")), [self.path("tree/a"), self.path("tree/sub/b")])
        self.assertEqual(files.glob(self.path("tree/**/b")), [self.path("tree/sub/b")])
        self.assertEqual(files.du(self.path("tree")), 5)
        entries = files.ls("ebbfs://" + self.path("tree"), detail=True)
        self.assertEqual([(one["name"], one["type"], one["size"]) for one in entries],
                         [(self.path("tree/a"), "file", 2), (self.path("tree/sub"), "directory", 0)])
        self.assertTrue(files.isdir(self.path("tree")) and files.isfile(self.path("tree/a")))
        files.copy(self.path("tree"), self.path("copy"), recursive=True)
        self.assertEqual(files.cat_file(self.path("copy/sub/b")), b"bbb")
        files.mv(self.path("tree/a"), self.path("copy/sub/b"))
        self.assertEqual(files.cat_file(self.path("copy/sub/b")), b"aa")
        self.assertRaises(IsADirectoryError, files.rm, self.path("copy"))
        files.rm(self.path("copy"), recursive=True)
        self.assertFalse(files.exists(self.path("copy")))
        self.assertRaises(FileNotFoundError, files.rm, self.path("copy"))

    def test_directories(self):
        files = self.files
        files.mkdir(self.path("made/deeper"))
        self.assertRaises(FileExistsError, files.mkdir, self.path("made"))
        self.assertRaises(FileExistsError, files.makedirs, self.path("made"))
        self.assertRaises(FileNotFoundError, files.mkdir, self.path("none/deeper"), create_parents=False)
        with self.assertRaises(OSError):
            files.rmdir(self.path("made"))
        files.rmdir(self.path("made/deeper"))
        self.assertEqual(files.ls(self.path("made"), detail=False), [])

    def test_ranges(self):
        contents = [some_bytes(100_000, seed) for seed in (3, 4)]
        paths = [self.path(f"ranges-{i}") for i in range(2)]
        self.files.pipe(dict(zip(paths, contents)))
        self.assertEqual(self.files.cat_file(paths[0], 10, -10), contents[0][10:-10])
        asked = [(i % 2, i * 1000, i * 1500) for i in range(20)]
        got = self.files.cat_ranges([paths[i] for i, _, _ in asked], [a for _, a, _ in asked], [b for _, _, b in asked])
        self.assertEqual(got, [contents[i][a:b] for i, a, b in asked])
        missing = self.files.cat_ranges([self.path("none")], 0, 10)
        self.assertIsInstance(missing[0], FileNotFoundError)

    def test_urls_and_text(self):
        with fsspec.open("ebbfs://" + self.path("text.gz"), "wt", compression="gzip") as out:
            out.write("grüße\n" * 1000)
        with fsspec.open("ebbfs://" + self.path("text.gz"), "rt", compression="gzip") as file:
            self.assertEqual(file.read(), "grüße\n" * 1000)
        self.assertEqual(ebbfs.EbbFileSystem._get_kwargs_from_urls("ebbfs://host:1/a"), {"host": "host", "port": 1})
        self.assertEqual(ebbfs.EbbFileSystem._strip_protocol("ebbfs://host:1/a/b/"), "/a/b")

    def test_local_files_are_put_and_got(self):
        content = some_bytes(300_000, 5)
        with tempfile.TemporaryDirectory() as directory:
            local = pathlib.Path(directory) / "local"
            local.write_bytes(content)
            self.files.put_file(str(local), self.path("up"))
            self.files.get_file(self.path("up"), str(local) + "-back")
            self.assertEqual(pathlib.Path(str(local) + "-back").read_bytes(), content)


if __name__ == "__main__":
    unittest.main()
