package io.ebbfs.verify.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.MultipartUploader;
import org.apache.hadoop.fs.PartHandle;
import org.apache.hadoop.fs.UploadHandle;
import org.apache.hadoop.fs.contract.AbstractContractConcatTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hadoop's contract of concat, and what its uploader of parts makes of it. */
@Tag("process")
class ConcatContractSystemTest extends AbstractContractConcatTest {
  @TempDir static Path directory;
  private static NamenodeAndChunkServer cluster;

  @BeforeAll
  static void start() throws Exception {
    cluster = EbbContract.start(directory);
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  @Override
  protected AbstractFSContract createContract(Configuration configuration) {
    return new EbbContract(configuration, cluster.port());
  }

  /** HDFS's uploader writes each part as a file, and puts the files together by a concat. */
  @Test
  void anUploadInPartsBecomesOneFile() throws Exception {
    FileSystem files = getFileSystem();
    org.apache.hadoop.fs.Path path = path("uploaded");
    byte[] content = new byte[5_000];
    new Random(7).nextBytes(content);
    try (MultipartUploader uploader = files.createMultipartUploader(path.getParent()).build()) {
      UploadHandle upload = uploader.startUpload(path).get();
      Map<Integer, PartHandle> parts = new HashMap<>();
      for (int part = 5; part > 0; part--) {
        InputStream bytes = new ByteArrayInputStream(content, (part - 1) * 1_000, 1_000);
        parts.put(part, uploader.putPart(upload, part, part == 5, path, bytes, 1_000).get());
      }
      uploader.complete(upload, path, parts).get();
    }
    try (InputStream read = files.open(path)) {
      assertArrayEquals(content, read.readAllBytes());
    }
  }
}
