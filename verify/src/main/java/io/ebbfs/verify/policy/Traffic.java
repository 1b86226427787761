package io.ebbfs.verify.policy;

/**
 * Files and their reads. An open of a file reads each of its blocks once.
 *
 * @param blocks of each file
 * @param opens by hour, then by file
 */
record Traffic(String name, int[] blocks, int[][] opens) {
  long totalBlocks() {
    long sum = 0;
    for (int count : blocks) {
      sum += count;
    }
    return sum;
  }
}
