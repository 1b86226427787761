package io.ebbfs.verify.simulator;

import org.apache.hadoop.hdfs.protocol.Block;

/**
 * A finalized block on a simulated disk.
 *
 * @param corrupt whether its data contradicts its checksums, so that every reader notices
 */
record SimBlock(
    long blockId, long generationStamp, long lengthBytes, BlockContent content, boolean corrupt) {
  SimBlock(long blockId, long generationStamp, long lengthBytes, BlockContent content) {
    this(blockId, generationStamp, lengthBytes, content, false);
  }

  SimBlock corrupted() {
    return new SimBlock(blockId, generationStamp, lengthBytes, BlockContent.garbage(), true);
  }

  boolean is(long wantedStamp, long wantedLength) {
    return generationStamp == wantedStamp && lengthBytes == wantedLength;
  }

  Block toBlock() {
    return new Block(blockId, lengthBytes, generationStamp);
  }
}
