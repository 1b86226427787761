"""The C library, by ctypes: its functions, and errors as OSError."""

import ctypes
import functools
import os
import pathlib
from ctypes import POINTER, c_char_p, c_int, c_int16, c_int32, c_int64, c_long, c_short, c_uint16, c_void_p

_NAME = "libebbfs.so.0"


class Info(ctypes.Structure):
    """hdfsFileInfo of hdfs.h."""

    _fields_ = [
        ("kind", c_int),
        ("name", c_char_p),
        ("modified", c_long),
        ("size", c_int64),
        ("replication", c_short),
        ("block_size", c_int64),
        ("owner", c_char_p),
        ("group", c_char_p),
        ("permissions", c_short),
        ("accessed", c_long),
    ]


# Result and arguments. fs and file are pointers that only the library looks into.
_FUNCTIONS = {
    "hdfsNewBuilder": (c_void_p, []),
    "hdfsBuilderSetNameNode": (None, [c_void_p, c_char_p]),
    "hdfsBuilderSetNameNodePort": (None, [c_void_p, c_uint16]),
    "hdfsBuilderSetUserName": (None, [c_void_p, c_char_p]),
    "hdfsBuilderConfSetStr": (c_int, [c_void_p, c_char_p, c_char_p]),
    "hdfsBuilderConnect": (c_void_p, [c_void_p]),
    "hdfsFreeBuilder": (None, [c_void_p]),
    "hdfsDisconnect": (c_int, [c_void_p]),
    "hdfsStreamBuilderAlloc": (c_void_p, [c_void_p, c_char_p, c_int]),
    "hdfsStreamBuilderFree": (None, [c_void_p]),
    "hdfsStreamBuilderSetReplication": (c_int, [c_void_p, c_int16]),
    "hdfsStreamBuilderSetDefaultBlockSize": (c_int, [c_void_p, c_int64]),
    "hdfsStreamBuilderBuild": (c_void_p, [c_void_p]),
    "hdfsCloseFile": (c_int, [c_void_p, c_void_p]),
    "hdfsRead": (c_int32, [c_void_p, c_void_p, c_void_p, c_int32]),
    "hdfsPread": (c_int32, [c_void_p, c_void_p, c_int64, c_void_p, c_int32]),
    "hdfsWrite": (c_int32, [c_void_p, c_void_p, c_void_p, c_int32]),
    "hdfsSeek": (c_int, [c_void_p, c_void_p, c_int64]),
    "hdfsTell": (c_int64, [c_void_p, c_void_p]),
    "ebbfsReplace": (c_int, [c_void_p, c_char_p, c_char_p]),
    "ebbfsFileLength": (c_int64, [c_void_p]),
    "hdfsHFlush": (c_int, [c_void_p, c_void_p]),
    "hdfsHSync": (c_int, [c_void_p, c_void_p]),
    "hdfsDelete": (c_int, [c_void_p, c_char_p, c_int]),
    "hdfsRename": (c_int, [c_void_p, c_char_p, c_char_p]),
    "hdfsCreateDirectory": (c_int, [c_void_p, c_char_p]),
    "hdfsCopy": (c_int, [c_void_p, c_char_p, c_void_p, c_char_p]),
    "hdfsTruncateFile": (c_int, [c_void_p, c_char_p, c_int64]),
    "hdfsListDirectory": (POINTER(Info), [c_void_p, c_char_p, POINTER(c_int)]),
    "hdfsGetPathInfo": (POINTER(Info), [c_void_p, c_char_p]),
    "hdfsFreeFileInfo": (None, [POINTER(Info), c_int]),
    "hdfsFileIsEncrypted": (c_int, [POINTER(Info)]),
    "hdfsChown": (c_int, [c_void_p, c_char_p, c_char_p, c_char_p]),
    "hdfsChmod": (c_int, [c_void_p, c_char_p, c_short]),
    "hdfsUtime": (c_int, [c_void_p, c_char_p, c_long, c_long]),
    "hdfsSetReplication": (c_int, [c_void_p, c_char_p, c_int16]),
    "hdfsGetHosts": (POINTER(POINTER(c_char_p)), [c_void_p, c_char_p, c_int64, c_int64]),
    "hdfsFreeHosts": (None, [POINTER(POINTER(c_char_p))]),
    "hdfsGetDefaultBlockSize": (c_int64, [c_void_p]),
    "hdfsGetCapacity": (c_int64, [c_void_p]),
    "hdfsGetUsed": (c_int64, [c_void_p]),
    "hdfsGetLastExceptionRootCause": (c_char_p, []),
}


@functools.lru_cache(maxsize=None)
def load():
    """The library: EBBFS_LIBRARY, or else the one beside the package, or else the system's."""
    beside = pathlib.Path(__file__).with_name("libebbfs.so")
    name = os.environ.get("EBBFS_LIBRARY") or (str(beside) if beside.exists() else _NAME)
    try:
        library = ctypes.CDLL(name, use_errno=True)
    except OSError as error:
        raise ImportError(
            f"{error}; install the package libebbfs, or name the file libebbfs.so in EBBFS_LIBRARY"
        ) from error
    for function, (result, arguments) in _FUNCTIONS.items():
        getattr(library, function).restype = result
        getattr(library, function).argtypes = arguments
    return library


def last_error(path=None):
    """The error of the last call of this thread: an OSError, or what Python has for its errno."""
    number = ctypes.get_errno()
    cause = load().hdfsGetLastExceptionRootCause()
    text = os.strerror(number) if cause is None else cause.decode(errors="replace")
    return OSError(number, text, path) if path is not None else OSError(number, text)


def check(answer, path=None):
    """The answer of a call, unless that tells of an error: -1 or a null pointer."""
    if answer is None or answer == -1:
        raise last_error(path)
    return answer
