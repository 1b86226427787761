#!/usr/bin/env python3
"""Uses a mount of a running cluster as programs use a directory.

    mount_test.py PROGRAM CONF WORK

PROGRAM is ebbfs-mount, CONF the directory of core-site.xml, WORK an empty directory, where WORK/tree holds files and
directories to copy. Ends with 0 and the line 'passed', or with 77 and the reason if this machine cannot mount.
Leaves /mounted in the file system, where /mounted/tree is a copy of WORK/tree.
"""
import ctypes
import errno
import filecmp
import mmap
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time

PROGRAM, CONF, WORK = sys.argv[1:4]
POINT = os.path.join(WORK, "mnt with blank")
LOG = os.path.join(WORK, "mount.log")
TREE = os.path.join(WORK, "tree")
BLOCK = 1 << 20
NO_FUSE = 77
# What the kernel, fusermount3 and libfuse say where containers and administrators allow no mounts.
REFUSALS = ("not permitted", "ermission denied", "device not found", "No such device", "/dev/fuse", "fusermount")
EXCHANGE = 2
NO_REPLACE = 1
AT_FDCWD = -100
libc = ctypes.CDLL(None, use_errno=True)


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ok(*words):
    done = run(*words)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}"
    return done.stdout


def mount(*options):
    return run(PROGRAM, "mount", "--conf", CONF, "-D", f"dfs.blocksize={BLOCK}", "--log", LOG, *options, POINT)


def at(*names):
    return os.path.join(POINT, "mounted", *names)


def fails(number, what):
    try:
        what()
    except OSError as error:
        assert error.errno == number, f"{error} instead of {errno.errorcode[number]}"
        return
    raise AssertionError(f"no {errno.errorcode[number]}")


def write(path, data, mode="wb"):
    with open(path, mode, buffering=0) as file:
        assert file.write(data) == len(data)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def rename2(old, new, flags):
    if libc.renameat2(AT_FDCWD, os.fsencode(old), AT_FDCWD, os.fsencode(new), flags) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def copy_tree():
    archive = os.path.join(WORK, "tree.tar")
    ok("tar", "-cf", archive, "-C", WORK, "tree")
    ok("tar", "-xf", archive, "--no-same-owner", "-C", at())
    ok("diff", "-r", TREE, at("tree"))
    some = max(os.listdir(TREE))
    here, there = os.stat(os.path.join(TREE, some)), os.stat(at("tree", some))
    assert int(here.st_mtime) == int(there.st_mtime), "tar gives files their times, in seconds"
    assert here.st_mode == there.st_mode
    listed = {entry.name for entry in os.scandir(at("tree"))}
    assert listed == set(os.listdir(TREE))


def contents():
    data = os.urandom(3 * BLOCK + 17)
    write(at("data"), data)
    assert os.stat(at("data")).st_size == len(data), "the length is right as soon as the file is closed"
    assert read(at("data")) == data
    shutil.copyfile(at("data"), at("copy"))
    assert filecmp.cmp(at("data"), at("copy"), shallow=False)
    with open(at("copy"), "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        for offset in (2 * BLOCK + 5, 7, len(data) - 9, BLOCK - 3):
            assert mapped[offset : offset + 9] == data[offset : offset + 9]
    with open(at("copy"), "rb", buffering=0) as file:
        for offset in (2 * BLOCK - 5, 11, len(data) - 7):
            assert os.pread(file.fileno(), 4096, offset) == data[offset : offset + 4096]


def order_of_writes():
    path = at("order")
    write(path, b"one\n")
    write(path, b"two\n", "ab")
    subprocess.run(["sh", "-c", '(echo three; sh -c "echo four") >> "$0"', path], check=True)
    assert read(path) == b"one\ntwo\nthree\nfour\n"
    subprocess.run(["sh", "-c", '(echo a; cat /dev/null; echo b) > "$0"', path], check=True)
    assert read(path) == b"a\nb\n", "O_TRUNC keeps the file and drops its bytes"
    with open(path, "r+b", buffering=0) as file:
        fails(errno.EOPNOTSUPP, lambda: file.write(b"x"))
        fails(errno.EOPNOTSUPP, lambda: file.write(b"x"))
        file.seek(0, os.SEEK_END)
        file.write(b"c\n")
        os.fsync(file.fileno())
        with open(path, "rb") as reader:
            assert reader.read() == b"a\nb\nc\n", "a reader sees what was synced"
        os.ftruncate(file.fileno(), 6)
        fails(errno.EOPNOTSUPP, lambda: os.ftruncate(file.fileno(), 7))
    assert read(path) == b"a\nb\nc\n"
    with open(LOG, encoding="utf-8") as log:
        refusals = [line for line in log if "/mounted/order at byte 0 was refused" in line]
    assert len(refusals) == 1, f"one line says why: {refusals}"
    with open(at("grows"), "wb", buffering=0) as writer, open(at("grows"), "rb", buffering=0) as reader:
        for part in (b"first", b"second"):
            writer.write(part)
            os.fsync(writer.fileno())
            assert reader.read() == part, "a reader that is open sees more"


def lengths():
    path = at("cut")
    write(path, b"x" * (BLOCK + 1000))
    os.truncate(path, BLOCK)
    assert os.stat(path).st_size == BLOCK
    os.truncate(path, 0)
    assert read(path) == b""
    fails(errno.EOPNOTSUPP, lambda: os.truncate(path, 1))


def names():
    os.mkdir(at("dir"), 0o750)
    assert stat.S_IMODE(os.stat(at("dir")).st_mode) == 0o750
    fails(errno.EEXIST, lambda: os.mkdir(at("dir")))
    write(at("dir", "a"), b"a")
    write(at("dir", "b"), b"b")
    number = os.stat(at("dir", "a")).st_ino
    fails(errno.EEXIST, lambda: rename2(at("dir", "a"), at("dir", "b"), NO_REPLACE))
    fails(errno.EINVAL, lambda: rename2(at("dir", "a"), at("dir", "b"), EXCHANGE))
    os.rename(at("dir", "a"), at("dir", "b"))
    assert read(at("dir", "b")) == b"a" and os.listdir(at("dir")) == ["b"]
    assert os.stat(at("dir", "b")).st_ino == number
    fails(errno.ENOTEMPTY, lambda: os.rmdir(at("dir")))
    os.mkdir(at("other"))
    fails(errno.ENOTEMPTY, lambda: os.rename(at("other"), at("dir")))
    os.rmdir(at("other"))
    fails(errno.ENOENT, lambda: os.stat(at("other")))
    fails(errno.EPERM, lambda: os.symlink("b", at("dir", "link")))
    fails(errno.EPERM, lambda: os.link(at("dir", "b"), at("dir", "link")))
    fails(errno.EPERM, lambda: os.mkfifo(at("dir", "pipe")))
    fails(errno.EINVAL, lambda: os.mkdir(at("dir", "with:colon")))
    fails(errno.EILSEQ, lambda: os.mkdir(os.fsencode(at("dir")) + b"/\xff"))
    with open(at("dir", "open"), "wb", buffering=0) as file:
        file.write(b"moved while it is written")
        os.rename(at("dir", "open"), at("dir", "moved"))
    assert read(at("dir", "moved")) == b"moved while it is written"
    with open(at("dir", "gone"), "wb", buffering=0) as file:
        file.write(b"x")
        os.unlink(at("dir", "gone"))
    shutil.rmtree(at("dir"))


def attributes():
    path = at("attributes")
    write(path, b"x")
    os.chmod(path, 0o640)
    os.utime(path, ns=(1_600_000_000_000_000_000, 1_500_000_000_123_000_000))
    status = os.stat(path)
    assert stat.S_IMODE(status.st_mode) == 0o640
    assert status.st_mtime_ns == 1_500_000_000_123_000_000 and status.st_size == 1
    os.setxattr(path, "user.color", b"blue", os.XATTR_CREATE)
    fails(errno.EEXIST, lambda: os.setxattr(path, "user.color", b"red", os.XATTR_CREATE))
    fails(errno.ENODATA, lambda: os.setxattr(path, "user.none", b"red", os.XATTR_REPLACE))
    os.setxattr(path, "user.color", b"red")
    assert os.getxattr(path, "user.color") == b"red" and os.listxattr(path) == ["user.color"]
    os.removexattr(path, "user.color")
    fails(errno.ENODATA, lambda: os.getxattr(path, "user.color"))
    fails(errno.ENODATA, lambda: os.removexattr(path, "user.color"))
    fails(errno.EOPNOTSUPP, lambda: os.setxattr(path, "trusted.x", b"x"))
    space = os.statvfs(POINT)
    assert space.f_blocks > 0 and 0 < space.f_bavail <= space.f_blocks


def writers():
    errors = []

    def write_one(name, byte):
        try:
            with open(at(name), "wb", buffering=0) as file:
                for _ in range(30):
                    file.write(bytes([byte]) * 70_001)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write_one, args=(f"writer-{i}", i)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
    for i in range(4):
        assert read(at(f"writer-{i}")) == bytes([i]) * 30 * 70_001


def process():
    """The process of the mount: the one whose command line has the mount point."""
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if os.fsencode(POINT) in words and os.fsencode(PROGRAM) in words:
            return int(number)
    raise AssertionError("no process")


def mounted():
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        return POINT.replace(" ", "\\040") + " " in file.read()


def await_end(number):
    for _ in range(1000):
        try:
            with open(f"/proc/{number}/stat", encoding="utf-8") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return
        except OSError:
            return
        time.sleep(0.01)
    raise AssertionError("the process goes on")


def await_disconnected():
    """A call that the process has taken when it dies ends with ECONNABORTED, a later call with ENOTCONN."""
    for _ in range(500):
        try:
            os.stat(POINT)
        except OSError as error:
            if error.errno == errno.ENOTCONN:
                return
            assert error.errno == errno.ECONNABORTED, error
        time.sleep(0.01)
    raise AssertionError("the mount still answers")


def unmount():
    """The process may outlive the mount for a moment."""
    number = process()
    ok(PROGRAM, "umount", POINT)
    await_end(number)


def ends():
    assert "already" in mount().stdout
    with open(at("open"), "rb" if os.path.exists(at("open")) else "w+b"):
        busy = run(PROGRAM, "umount", POINT)
        assert busy.returncode == 1 and "in use" in busy.stdout, busy
    unmount()
    assert not mounted()
    assert run(PROGRAM, "umount", POINT).returncode == 1
    # A process that is killed leaves a mount, which can be taken away.
    assert mount("-o", "ro").returncode == 0
    fails(errno.EROFS, lambda: os.mkdir(at("no")))
    number = process()
    os.kill(number, signal.SIGKILL)
    await_end(number)
    await_disconnected()
    ok(PROGRAM, "umount", POINT)
    assert not mounted()
    # A process that is told to end ends the files first, although a program has them open.
    assert mount("-o", "root=/mounted").returncode == 0
    file = open(os.path.join(POINT, "ended"), "wb", buffering=0)
    file.write(b"complete")
    number = process()
    os.kill(number, signal.SIGTERM)
    await_end(number)
    assert not mounted()
    try:
        file.close()
    except OSError:
        pass
    assert mount().returncode == 0
    assert read(at("ended")) == b"complete"
    with open(at("ended"), "ab") as file:
        file.write(b", and free")
    assert read(at("ended")) == b"complete, and free"
    ok(PROGRAM, "umount", POINT)
    missing = run(PROGRAM, "mount", "--conf", CONF, "--log", LOG, "-o", "root=/none", POINT)
    assert missing.returncode == 1 and "does not exist" in missing.stdout, missing


def main():
    os.mkdir(POINT)
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        print("/dev/fuse cannot be opened here")
        return NO_FUSE
    first = mount()
    if first.returncode != 0 and any(words in first.stdout for words in REFUSALS):
        print(f"mounting is not allowed here: {first.stdout}")
        return NO_FUSE
    assert first.returncode == 0, first.stdout
    try:
        os.mkdir(at())
        for part in (copy_tree, contents, order_of_writes, lengths, names, attributes, writers, ends):
            started = time.monotonic()
            part()
            print(f"{part.__name__}: {time.monotonic() - started:.2f} s")
    finally:
        if mounted():
            run(PROGRAM, "umount", "--lazy", POINT)
    print("passed")
    return 0


sys.exit(main())
