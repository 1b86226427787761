package io.ebbfs.workloads.experiment.report;

/**
 * Bytes on links against bytes that the arithmetic asks for. A full Ethernet frame of 1,514 bytes
 * carries 1,448 of TCP's payload, and a block brings 4 bytes of checksum with each 512. Where a
 * network card (or a virtual one) takes larger segments, fewer headers are counted. So what headers
 * and checksums cost lies between nothing and {@link #HEADERS}; only the rest is a difference.
 */
final class Links {
  /** Bytes on a link per byte of a block, if every frame is full and counted. */
  static final double HEADERS = (1514.0 / 1448) * (1 + 4.0 / 512);

  /** What the difference may be. */
  static final double TOLERANCE = 0.05;

  private Links() {}

  /** By how much a ratio of link bytes to arithmetic is off, headers allowed for: 0.02 for 2%. */
  static double off(double ratio) {
    return off(ratio, 1);
  }

  /**
   * The same where some of the bytes need not cross a link.
   *
   * @param least the lowest ratio that the arithmetic allows, above 0 and up to 1
   */
  static double off(double ratio, double least) {
    return Math.max(0, Math.max(ratio / HEADERS - 1, 1 - ratio / least));
  }
}
