"""A file system, and its open files."""

import ctypes
import dataclasses
import errno
import io
import os

from ebbfs.library import check, last_error, load

_MOST_BYTES = 1 << 30  # of one call of the library
_BUFFER_BYTES = 1 << 16
_FLAGS = {"r": os.O_RDONLY, "w": os.O_WRONLY, "a": os.O_WRONLY | os.O_APPEND, "x": os.O_WRONLY | os.O_CREAT | os.O_EXCL}


@dataclasses.dataclass(frozen=True)
class FileInfo:
    """What a name node tells of a file or directory. Times are seconds since 1970."""

    path: str
    is_directory: bool
    size: int
    modified: int
    accessed: int
    replication: int
    block_size: int
    owner: str
    group: str
    permissions: int
    is_encrypted: bool

    @property
    def name(self):
        return self.path.rpartition("/")[2]


class FileSystem:
    """A file system of EbbFS or HDFS. Threads may share it; a forked process must open its own.

    Errors are OSError and its kinds, as of local files. Relative paths begin at /user/NAME.
    """

    def __init__(self, name_node="default", port=0, user=None, conf=None):
        """Opens the file system; the first call connects.

        :param name_node: a host, HOST:PORT or name service; "default" is that of core-site.xml in HADOOP_CONF_DIR
        :param user: acts as this user; without one, as HADOOP_USER_NAME or the user of the process
        :param conf: settings that go before those of the configuration files
        """
        self._handle = None
        self._library = load()
        if not 0 <= port < 1 << 16:
            raise ValueError(f"the port is {port}; it must be below 65536")
        builder = check(self._library.hdfsNewBuilder())
        self._library.hdfsBuilderSetNameNode(builder, _encode(name_node))
        self._library.hdfsBuilderSetNameNodePort(builder, port)
        if user is not None:
            self._library.hdfsBuilderSetUserName(builder, _encode(user))
        for key, value in (conf or {}).items():
            self._library.hdfsBuilderConfSetStr(builder, _encode(key), _encode(str(value)))
        self._handle = check(self._library.hdfsBuilderConnect(builder))

    def close(self):
        """Open files stay usable."""
        handle, self._handle = self._handle, None
        if handle is not None:
            check(self._library.hdfsDisconnect(handle))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None) is not None:
            self._library.hdfsDisconnect(self._handle)
            self._handle = None

    def stat(self, path):
        """With `ebbfs.client.status.cache.millis` in `conf`, this and `exists` may tell what was true so long ago."""
        found = self._library.hdfsGetPathInfo(self._handle, _encode(path))
        if not found:
            raise last_error(path)
        try:
            return self._info(found[0])
        finally:
            self._library.hdfsFreeFileInfo(found, 1)

    def list(self, path):
        """The entries of a directory in the order of their names, or the file itself."""
        count = ctypes.c_int()
        found = self._library.hdfsListDirectory(self._handle, _encode(path), ctypes.byref(count))
        if not found:
            if ctypes.get_errno() != 0:
                raise last_error(path)
            return []
        try:
            return [self._info(found[i]) for i in range(count.value)]
        finally:
            self._library.hdfsFreeFileInfo(found, count)

    def exists(self, path):
        return self._find(path) is not None

    def make_directory(self, path):
        """Makes missing parents, too. Nothing happens if the directory exists."""
        self._check(self._library.hdfsCreateDirectory(self._handle, _encode(path)), path)

    def remove(self, path, recursive=False):
        """Removes a file, an empty directory, or, if `recursive`, a tree."""
        if self._library.hdfsDelete(self._handle, _encode(path), int(recursive)) == -1:
            error = last_error(path)
            # EIO stands for all that a name node refuses without a reason.
            if error.errno == errno.EIO and not self.exists(path):
                raise _error(errno.ENOENT, path)
            raise error

    def rename(self, source, target):
        """Renames a file or directory, into `target` if that is a directory. No file is replaced."""
        if self._library.hdfsRename(self._handle, _encode(source), _encode(target)) == -1:
            error = last_error(source)
            if error.errno == errno.EIO:
                if not self.exists(source):
                    raise _error(errno.ENOENT, source)
                if self.exists(target):
                    raise _error(errno.EEXIST, target)
                if not self.exists(os.path.dirname(target.rstrip("/")) or "/"):
                    raise _error(errno.ENOENT, target)
            raise error

    def replace(self, source, target):
        """Renames. A file or an empty directory of the name `target` is replaced, in one step."""
        answer = self._library.ebbfsReplace(self._handle, _encode(source), _encode(target))
        self._check(answer, source)

    def copy(self, source, target):
        """Copies a file or a tree, into `target` if that is a directory. Files are replaced."""
        answer = self._library.hdfsCopy(self._handle, _encode(source), self._handle, _encode(target))
        self._check(answer, source)

    def truncate(self, path, size):
        """False if a block must be cut first: the file has its new size as soon as that is done."""
        answer = self._library.hdfsTruncateFile(self._handle, _encode(path), size)
        return self._check(answer, path) == 1

    def chmod(self, path, permissions):
        self._check(self._library.hdfsChmod(self._handle, _encode(path), permissions), path)

    def chown(self, path, owner=None, group=None):
        answer = self._library.hdfsChown(self._handle, _encode(path), _encode(owner), _encode(group))
        self._check(answer, path)

    def utime(self, path, modified=-1, accessed=-1):
        """Whole seconds since 1970; -1 keeps a time."""
        answer = self._library.hdfsUtime(self._handle, _encode(path), int(modified), int(accessed))
        self._check(answer, path)

    def set_replication(self, path, replication):
        if not 0 < replication < 1 << 15:
            raise ValueError(f"the replication is {replication}; it must be from 1 to 32767")
        self._check(self._library.hdfsSetReplication(self._handle, _encode(path), replication), path)

    def hosts(self, path, start=0, length=None):
        """For each block of a range the names of the servers that hold it."""
        length = (1 << 62) - start if length is None else length
        found = self._library.hdfsGetHosts(self._handle, _encode(path), start, length)
        if not found:
            raise last_error(path)
        try:
            return [[name.decode() for name in _until_null(block)] for block in _until_null(found)]
        finally:
            self._library.hdfsFreeHosts(found)

    def default_block_size(self):
        return self._check(self._library.hdfsGetDefaultBlockSize(self._handle))

    def capacity(self):
        """Bytes of all disks."""
        return self._check(self._library.hdfsGetCapacity(self._handle))

    def used(self):
        """Bytes of all disks that are used."""
        return self._check(self._library.hdfsGetUsed(self._handle))

    def open(self, path, mode="rb", buffer_size=_BUFFER_BYTES, replication=0, block_size=0):
        """Opens a file: a :class:`Reader` for "rb", a :class:`Writer` for "wb", "ab" and "xb".

        :param replication: of a file that is made; 0 as configured
        :param block_size: the same
        """
        kind = mode.replace("b", "", 1)
        if kind not in _FLAGS or "b" not in mode:
            raise ValueError(f"the mode is {mode!r}; it must be 'rb', 'wb', 'ab' or 'xb'")
        flags = _FLAGS[kind]
        try:
            raw = RawFile(self, path, flags, replication, block_size)
        except FileNotFoundError:
            found = self._find(path)
            if found is not None and found.is_directory:
                raise _error(errno.EISDIR, path) from None
            if kind != "a" or found is not None:
                raise
            raw = RawFile(self, path, _FLAGS["x"], replication, block_size)
        except FileExistsError:
            if kind != "x" and self.stat(path).is_directory:
                raise _error(errno.EISDIR, path) from None
            raise
        return Reader(raw, buffer_size) if kind == "r" else Writer(raw, buffer_size)

    def _find(self, path):
        try:
            return self.stat(path)
        except FileNotFoundError:
            return None

    def _check(self, answer, path=None):
        return check(answer, path)

    def _info(self, info):
        path = info.name.decode()
        return FileInfo(
            path="/" + path.split("://", 1)[1].partition("/")[2],
            is_directory=info.kind == ord("D"),
            size=info.size,
            modified=info.modified,
            accessed=info.accessed,
            replication=info.replication,
            block_size=info.block_size,
            owner=info.owner.decode(),
            group=info.group.decode(),
            permissions=info.permissions & 0o1777,
            is_encrypted=self._library.hdfsFileIsEncrypted(ctypes.byref(info)) == 1,
        )


class RawFile(io.RawIOBase):
    """An open file without a buffer. The interpreter's lock is free during its calls."""

    def __init__(self, files, path, flags, replication, block_size):
        super().__init__()
        self._handle = None
        self._library = load()
        self.name = path
        self._writes = flags & os.O_ACCMODE == os.O_WRONLY
        self._process = os.getpid()
        builder = check(self._library.hdfsStreamBuilderAlloc(files._handle, _encode(path), flags), path)
        if self._writes:
            for answer in (
                self._library.hdfsStreamBuilderSetReplication(builder, replication),
                self._library.hdfsStreamBuilderSetDefaultBlockSize(builder, block_size),
            ):
                if answer == -1:
                    error = last_error(path)
                    self._library.hdfsStreamBuilderFree(builder)
                    raise error
        self._handle = check(self._library.hdfsStreamBuilderBuild(builder), path)
        self.size = None if self._writes else self._library.ebbfsFileLength(self._handle)

    def readable(self):
        return not self._writes

    def writable(self):
        return self._writes

    def seekable(self):
        return not self._writes

    def readinto(self, buffer):
        with memoryview(buffer).cast("B") as view:
            wanted = min(len(view), _MOST_BYTES)
            target = (ctypes.c_char * wanted).from_buffer(view) if wanted else None
            try:
                return self._check(self._library.hdfsRead(None, self._open(), target, wanted))
            finally:
                del target

    def readall(self):
        content = bytearray(max(self.size - self.tell(), 0))
        done = 0
        with memoryview(content) as view:
            while done < len(content):
                read = self.readinto(view[done:])
                if read == 0:
                    break
                done += read
        return bytes(content[:done])

    def pread(self, size, offset):
        """Reads from `offset` on. The position stays; threads may do so beside each other."""
        content = ctypes.create_string_buffer(max(min(size, self.size - offset), 0))
        done = 0
        while done < len(content):
            wanted = min(len(content) - done, _MOST_BYTES)
            place = ctypes.byref(content, done)
            read = self._check(self._library.hdfsPread(None, self._open(), offset + done, place, wanted))
            if read == 0:
                break
            done += read
        return bytes(memoryview(content)[:done])

    def write(self, data):
        with memoryview(data).cast("B") as view:
            size = min(len(view), _MOST_BYTES)
            content = data if isinstance(data, bytes) else view[:size].tobytes()
        return self._check(self._library.hdfsWrite(None, self._open(), content, size))

    def seek(self, offset, whence=os.SEEK_SET):
        if self._writes:
            raise io.UnsupportedOperation("a file that is written has one position, its end")
        base = {os.SEEK_SET: 0, os.SEEK_CUR: None, os.SEEK_END: self.size}[whence]
        target = offset + (self.tell() if base is None else base)
        if target < 0:
            raise OSError(errno.EINVAL, f"the position is {target}", self.name)
        # There is no position beyond the end.
        target = min(target, self.size)
        self._check(self._library.hdfsSeek(None, self._open(), target))
        return target

    def tell(self):
        return self._check(self._library.hdfsTell(None, self._open()))

    def hflush(self):
        self._check(self._library.hdfsHFlush(None, self._open()))

    def hsync(self):
        self._check(self._library.hdfsHSync(None, self._open()))

    def close(self):
        if self.closed:
            return
        handle, self._handle = self._handle, None
        try:
            if handle is not None:
                self._check(self._library.hdfsCloseFile(None, handle))
        finally:
            super().close()

    def _open(self):
        if self._handle is None:
            raise ValueError("I/O operation on closed file")
        if self._process != os.getpid():
            raise ValueError(f"{self.name} was opened by process {self._process}: open it in this one")
        return self._handle

    def _check(self, answer):
        return check(answer, self.name)


class Reader(io.BufferedReader):
    """A file that is read."""

    @property
    def size(self):
        """Of the file when it was opened."""
        return self.raw.size

    def pread(self, size, offset):
        """Reads from `offset` on. The position stays; threads may do so beside each other."""
        return self.raw.pread(size, offset)


class Writer(io.BufferedWriter):
    """A file that is written. It is complete once it is closed."""

    def hflush(self):
        """Readers that open the file from now on see what was written."""
        self.flush()
        self.raw.hflush()

    def hsync(self):
        """What was written is on the disks of all servers that hold it."""
        self.flush()
        self.raw.hsync()


def _encode(text):
    if text is None:
        return None
    encoded = os.fsencode(text)
    if b"\0" in encoded:
        raise ValueError(f"{text!r} has a null character")
    return encoded


def _error(number, path):
    return OSError(number, os.strerror(number), path)


def _until_null(pointer):
    index = 0
    while pointer[index]:
        yield pointer[index]
        index += 1
