package io.ebbfs.namespace.inode;

/** Bounds on what clients may ask for. */
public record Limits(
    int maxComponentBytes,
    int maxPathDepth,
    int maxPathLength,
    int listingPage,
    long minBlockSizeBytes,
    int maxBlocksPerFile,
    int maxReplication) {
  public static final Limits DEFAULT = new Limits(255, 1000, 8000, 1000, 65536, 10_000, 512);

  public Limits withMinBlockSize(long bytes) {
    return new Limits(
        maxComponentBytes,
        maxPathDepth,
        maxPathLength,
        listingPage,
        bytes,
        maxBlocksPerFile,
        maxReplication);
  }
}
