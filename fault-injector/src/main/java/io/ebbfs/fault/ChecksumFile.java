package io.ebbfs.fault;

import io.ebbfs.fault.BlockFiles.Replica;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.zip.CRC32C;

/** The HDFS checksum file of a block: a header of 7 bytes, then a checksum of each chunk. */
final class ChecksumFile {
  private static final int HEADER_BYTES = 7;
  private static final int CRC32C_TYPE = 2;

  private ChecksumFile() {}

  /** Replaces the data of a replica and computes matching checksums of the same type. */
  static void forge(Replica replica, byte[] data) throws IOException, ClusterException {
    Path meta =
        replica.files().stream()
            .filter(file -> file.toString().endsWith(".meta"))
            .findFirst()
            .orElseThrow(
                () -> new ClusterException(replica.file() + " has no checksum file beside it"));
    Path nextMeta = write(meta, checksums(Files.readAllBytes(meta), data, meta));
    Path nextData = write(replica.file(), data);
    // One right after the other, since the server may be reading them.
    replace(nextMeta, meta);
    replace(nextData, replica.file());
  }

  private static byte[] checksums(byte[] old, byte[] data, Path meta) throws ClusterException {
    ByteBuffer header = ByteBuffer.wrap(old);
    header.getShort();
    int type = header.get();
    int chunk = header.getInt();
    if (type != CRC32C_TYPE) {
      throw new ClusterException(
          "%s holds checksums of type %d: only CRC32C can be forged".formatted(meta, type));
    }
    ByteBuffer sums = ByteBuffer.allocate(HEADER_BYTES + 4 * ((data.length + chunk - 1) / chunk));
    sums.put(old, 0, HEADER_BYTES);
    for (int at = 0; at < data.length; at += chunk) {
      CRC32C crc = new CRC32C();
      crc.update(data, at, Math.min(chunk, data.length - at));
      sums.putInt((int) crc.getValue());
    }
    return sums.array();
  }

  private static Path write(Path target, byte[] bytes) throws IOException {
    Path next = Files.createTempFile(target.getParent(), "forged", ".tmp");
    return Files.write(next, bytes);
  }

  private static void replace(Path next, Path target) throws IOException {
    Files.move(next, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
