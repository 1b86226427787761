"""pyarrow on a cluster: arrow_test.py DIRECTORY, with HADOOP_CONF_DIR, EBBFS_LIBRARY, ARROW_LIBHDFS_DIR and JAVA_HOME set."""

import sys
import unittest

import fsspec
import pyarrow
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet

ROOT = sys.argv.pop(1)


class ArrowTest(unittest.TestCase):
    table = pyarrow.table({"number": list(range(100_000)), "text": [str(i * i) for i in range(100_000)]})

    def check(self, files, directory):
        files.create_dir(directory)
        with files.open_output_stream(f"{directory}/stream") as out:
            out.write(b"some bytes")
        with files.open_input_file(f"{directory}/stream") as file:
            self.assertEqual(file.size(), 10)
            self.assertEqual(file.read_at(5, 5), b"bytes")
        with files.open_append_stream(f"{directory}/stream") as out:
            out.write(b" more")
        with files.open_input_stream(f"{directory}/stream") as file:
            self.assertEqual(file.read(), b"some bytes more")
        pyarrow.parquet.write_table(self.table, f"{directory}/table.parquet", filesystem=files, row_group_size=10_000)
        read = pyarrow.parquet.read_table(f"{directory}/table.parquet", filesystem=files)
        self.assertTrue(read.equals(self.table))
        pyarrow.dataset.write_dataset(
            self.table, f"{directory}/set", format="parquet", max_rows_per_file=30_000, max_rows_per_group=30_000,
            filesystem=files,
        )
        found = pyarrow.dataset.dataset(f"{directory}/set", filesystem=files)
        self.assertEqual(len(found.files), 4)
        self.assertEqual(found.to_table().num_rows, 100_000)
        infos = files.get_file_info(pyarrow.fs.FileSelector(directory, recursive=True))
        self.assertEqual(sorted(info.base_name for info in infos if info.type == pyarrow.fs.FileType.Directory), ["set"])
        self.assertEqual(len(infos), 7)
        files.move(f"{directory}/stream", f"{directory}/moved")
        files.copy_file(f"{directory}/moved", f"{directory}/copied")
        self.assertEqual(files.get_file_info(f"{directory}/copied").size, 15)
        self.assertEqual(files.get_file_info(f"{directory}/stream").type, pyarrow.fs.FileType.NotFound)
        files.delete_file(f"{directory}/moved")
        files.delete_dir_contents(f"{directory}/set")
        files.delete_dir(directory)
        self.assertEqual(files.get_file_info(directory).type, pyarrow.fs.FileType.NotFound)

    def test_the_file_system_of_fsspec(self):
        handler = pyarrow.fs.FSSpecHandler(fsspec.filesystem("ebbfs"))
        self.check(pyarrow.fs.PyFileSystem(handler), f"{ROOT}/by-fsspec")

    def test_the_file_system_of_libhdfs(self):
        self.check(pyarrow.fs.HadoopFileSystem("default"), f"{ROOT}/by-libhdfs")


if __name__ == "__main__":
    unittest.main()
