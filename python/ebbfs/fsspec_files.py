"""EbbFS and HDFS as a file system of fsspec."""

import concurrent.futures
import datetime
import errno
import os

from fsspec import AbstractFileSystem
from fsspec.utils import stringify_path

from ebbfs.files import FileSystem

_MOST_THREADS = 8  # of the reads of one call


class EbbFileSystem(AbstractFileSystem):
    """A file system of fsspec, for "ebbfs://HOST:PORT/PATH", "ebbfs://NAME-SERVICE/PATH" and "ebbfs:///PATH".

    Paths begin at the root. Listings and bytes are not cached. Instances with equal arguments are one, as fsspec has it.
    """

    protocol = "ebbfs"
    root_marker = "/"

    def __init__(self, host="default", port=0, user=None, conf=None, replication=0, block_size=0, **options):
        """
        :param host: a host, HOST:PORT or name service; "default" is that of core-site.xml in HADOOP_CONF_DIR
        :param conf: settings that go before those of the configuration files
        :param replication: of files that are made; 0 as configured
        :param block_size: the same
        """
        super().__init__(**options)
        self.files = FileSystem(host, port, user, conf)
        self._replication = replication
        self._block_size = block_size

    @classmethod
    def _strip_protocol(cls, path):
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        path = stringify_path(path)
        if path.startswith("ebbfs://"):
            path = path[len("ebbfs://") :].partition("/")[2]
        return "/" + path.strip("/")

    @staticmethod
    def _get_kwargs_from_urls(path):
        if not path.startswith("ebbfs://"):
            return {}
        host, colon, port = path[len("ebbfs://") :].partition("/")[0].partition(":")
        return {"host": host, **({"port": int(port)} if colon else {})} if host else {}

    @property
    def fsid(self):
        return f"ebbfs_{self.storage_options.get('host', 'default')}:{self.storage_options.get('port', 0)}"

    def info(self, path, **_):
        return _entry(self.files.stat(self._strip_protocol(path)))

    def ls(self, path, detail=True, **_):
        entries = [_entry(info) for info in self.files.list(self._strip_protocol(path))]
        return entries if detail else [entry["name"] for entry in entries]

    def exists(self, path, **_):
        return self.files.exists(self._strip_protocol(path))

    def created(self, path):
        raise NotImplementedError("a name node keeps no times of creation")

    def modified(self, path):
        return datetime.datetime.fromtimestamp(self.info(path)["mtime"], datetime.timezone.utc)

    def mkdir(self, path, create_parents=True, **_):
        path = self._strip_protocol(path)
        if self.files.exists(path):
            raise _error(errno.EEXIST, path)
        if not create_parents and not self.files.exists(self._parent(path)):
            raise _error(errno.ENOENT, path)
        self.files.make_directory(path)

    def makedirs(self, path, exist_ok=False):
        path = self._strip_protocol(path)
        if not exist_ok and self.files.exists(path):
            raise _error(errno.EEXIST, path)
        self.files.make_directory(path)

    def rmdir(self, path):
        path = self._strip_protocol(path)
        if not self.files.stat(path).is_directory:
            raise _error(errno.ENOTDIR, path)
        self.files.remove(path)

    def rm_file(self, path):
        path = self._strip_protocol(path)
        if self.files.stat(path).is_directory:
            raise _error(errno.EISDIR, path)
        self.files.remove(path)

    _rm = rm_file

    def rm(self, path, recursive=False, maxdepth=None):
        if maxdepth is not None:
            return super().rm(path, recursive, maxdepth)
        for one in self.expand_path(path):
            if recursive:
                self.files.remove(one, recursive=True)
            else:
                self.rm_file(one)

    def mv(self, path1, path2, recursive=True, maxdepth=None, **_):
        """Renames, into `path2` if that is a directory; a file is replaced. The bytes stay where they are."""
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        if self.isdir(path2):
            path2 = path2.rstrip("/") + "/" + path1.rpartition("/")[2]
        self.files.replace(path1, path2)

    def cp_file(self, path1, path2, **_):
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        if self.files.stat(path1).is_directory:
            self.files.make_directory(path2)
        else:
            self.files.copy(path1, path2)

    def chmod(self, path, mode):
        self.files.chmod(self._strip_protocol(path), mode)

    def chown(self, path, owner=None, group=None):
        self.files.chown(self._strip_protocol(path), owner, group)

    def touch(self, path, truncate=True, **_):
        path = self._strip_protocol(path)
        if truncate or not self.files.exists(path):
            self._open(path, "wb").close()
        else:
            now = datetime.datetime.now().timestamp()
            self.files.utime(path, now, now)

    def cat_file(self, path, start=None, end=None, **_):
        with self._open(path) as file:
            return _range_of(file, start, end)

    def cat_ranges(self, paths, starts, ends, max_gap=None, on_error="return", **_):
        """Reads ranges of files: each file is opened once, and several ranges are read at a time."""
        starts = starts if isinstance(starts, (list, tuple)) else [starts] * len(paths)
        ends = ends if isinstance(ends, (list, tuple)) else [ends] * len(paths)
        if not len(paths) == len(starts) == len(ends):
            raise ValueError(f"{len(paths)} paths, {len(starts)} starts and {len(ends)} ends")
        with concurrent.futures.ThreadPoolExecutor(_MOST_THREADS) as pool:
            opened = {path: pool.submit(self._open, path) for path in dict.fromkeys(paths)}
            concurrent.futures.wait(opened.values())
            try:
                parts = [
                    pool.submit(lambda file, *ends: _range_of(file.result(), *ends), opened[path], start, end)
                    for path, start, end in zip(paths, starts, ends)
                ]
                return [_outcome(part, on_error) for part in parts]
            finally:
                pool.shutdown()
                for file in opened.values():
                    if file.exception() is None:
                        file.result().close()

    def _open(self, path, mode="rb", block_size=None, autocommit=True, cache_options=None, **_):
        if not autocommit:
            raise NotImplementedError("this file system has no transactions")
        return self.files.open(
            self._strip_protocol(path),
            mode,
            replication=self._replication,
            block_size=self._block_size,
        )


def _entry(info):
    return {
        "name": info.path,
        "type": "directory" if info.is_directory else "file",
        "size": info.size,
        "mtime": info.modified,
        "atime": info.accessed,
        "mode": info.permissions,
        "owner": info.owner,
        "group": info.group,
        "replication": info.replication,
        "block_size": info.block_size,
    }


def _range_of(file, start, end):
    """Bytes from start to end; numbers below 0 count from the end of the file."""
    start, end, _ = slice(start, end).indices(file.size)
    return file.pread(max(end - start, 0), start)


def _outcome(part, on_error):
    error = part.exception()
    if error is None:
        return part.result()
    if on_error == "raise":
        raise error
    return error


def _error(number, path):
    return OSError(number, os.strerror(number), path)
