package io.ebbfs.namenode.datanodes;

/**
 * A limit of the bytes that background work of one kind moves in a second.
 *
 * @param perServer at each chunk server: bytes that it reads, receives, sends and writes; 0: no
 *     limit
 * @param cluster in the whole cluster: bytes that are read and written; 0: no limit
 */
public record ByteRate(long perServer, long cluster) {
  /** No limit. */
  public static final ByteRate UNLIMITED = new ByteRate(0, 0);

  public ByteRate {
    if (perServer < 0 || cluster < 0) {
      throw new IllegalArgumentException(
          "limits of bytes per second are %d for a server and %d for the cluster: give 0 or more"
              .formatted(perServer, cluster));
    }
  }
}
