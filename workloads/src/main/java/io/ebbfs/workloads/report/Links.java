package io.ebbfs.workloads.report;

/**
 * Compares bytes on links with the bytes that must cross them. A full Ethernet frame of 1,514 bytes
 * carries 1,448 bytes of TCP payload, and a block has 4 bytes of checksum for each 512. A network
 * card that joins frames before they are counted has fewer headers. So headers and checksums add
 * between nothing and the factor {@link #HEADERS}. Only a ratio outside of this range is off.
 */
final class Links {
  /** Bytes on a link per byte of a block, if every frame is full and counted. */
  static final double HEADERS = (1514.0 / 1448) * (1 + 4.0 / 512);

  /** The largest difference that counts as equal. */
  static final double TOLERANCE = 0.05;

  private Links() {}

  /** The distance of a ratio from the range that headers explain: 0.02 for 2%. */
  static double off(double ratio) {
    return off(ratio, 1);
  }

  /**
   * The same, if some of the bytes need not cross a link.
   *
   * @param least the lowest ratio that the arithmetic allows, above 0 and up to 1
   */
  static double off(double ratio, double least) {
    return Math.max(0, Math.max(ratio / HEADERS - 1, 1 - ratio / least));
  }
}
