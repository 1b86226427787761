"""Builds the wheel and the source archive of the package (PEP 517), with Python alone.

The package is not compiled, so that a wheel is an archive of its files and a description of them. Nothing has to be
downloaded. ``python3 build_backend.py DIRECTORY`` makes the wheel without pip. EBBFS_VERSION goes before the version of
pyproject.toml; SOURCE_DATE_EPOCH is the time of all files.
"""

import base64
import hashlib
import io
import os
import pathlib
import re
import sys
import tarfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = ("build_backend.py", "pyproject.toml", "README.md")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"ebbfs-{_version()}-py3-none-any.whl"
    info = f"ebbfs-{_version()}.dist-info"
    files = {f"ebbfs/{path.name}": path.read_bytes() for path in _modules()}
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: ebbfs\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = (
        "[fsspec.specs]\n" + _table('project.entry-points."fsspec.specs"').replace('"', "") + "\n"
    ).encode()
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD")
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, time.gmtime(max(_time(), 315532800))[:6])
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return name


def build_sdist(sdist_directory, config_settings=None):
    stem = f"ebbfs-{_version()}"
    files = {name: (HERE / name).read_bytes() for name in SOURCES}
    files.update({f"ebbfs/{path.name}": path.read_bytes() for path in _modules()})
    files["PKG-INFO"] = _metadata().encode()
    with tarfile.open(pathlib.Path(sdist_directory) / f"{stem}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{stem}/{path}")
            entry.size, entry.mtime, entry.mode = len(content), _time(), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return f"{stem}.tar.gz"


def _modules():
    return sorted((HERE / "ebbfs").glob("*.py"))


def _time():
    return int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))


def _table(name):
    """The lines of a table of pyproject.toml. Python before 3.11 has no parser of TOML."""
    text = (HERE / "pyproject.toml").read_text()
    return text.split(f"[{name}]\n", 1)[1].split("\n[", 1)[0].strip()


def _value(key):
    return re.search(rf'^{key} = "(.*)"$', _table("project"), re.MULTILINE).group(1)


def _version():
    return os.environ.get("EBBFS_VERSION") or _value("version")


def _metadata():
    classifiers = re.findall(r'^  "(.*)",$', _table("project"), re.MULTILINE)
    extras = re.findall(r'^(\w+) = \["(.*)"\]$', _table("project.optional-dependencies"), re.MULTILINE)
    lines = [
        "Metadata-Version: 2.1",
        "Name: ebbfs",
        f"Version: {_version()}",
        f"Summary: {_value('description')}",
        "License: Apache-2.0",
        f"Requires-Python: {_value('requires-python')}",
        *(f"Classifier: {classifier}" for classifier in classifiers),
        *(f"Provides-Extra: {extra}" for extra, _ in extras),
        *(f'Requires-Dist: {needs} ; extra == "{extra}"' for extra, needs in extras),
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text()


def _record(files, own_path):
    def digest(content):
        return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()

    lines = [f"{path},sha256={digest(content)},{len(content)}" for path, content in files.items()]
    return ("\n".join([*lines, f"{own_path},,"]) + "\n").encode()


if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))
