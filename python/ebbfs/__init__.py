"""Files of EbbFS and HDFS, without a JVM.

:class:`FileSystem` works like :mod:`os` and :func:`open`. :class:`EbbFileSystem` is the same for fsspec, and needs fsspec.
"""

from ebbfs.files import FileInfo, FileSystem, Reader, Writer

__all__ = ["EbbFileSystem", "FileInfo", "FileSystem", "Reader", "Writer"]


def __getattr__(name):
    # fsspec is needed by those who use it only.
    if name == "EbbFileSystem":
        from ebbfs.fsspec_files import EbbFileSystem

        return EbbFileSystem
    raise AttributeError(f"module 'ebbfs' has no attribute '{name}'")
