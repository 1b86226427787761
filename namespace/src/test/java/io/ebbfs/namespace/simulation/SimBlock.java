package io.ebbfs.namespace.simulation;

import org.apache.hadoop.hdfs.protocol.Block;

/**
 * A finalized block on a simulated disk.
 *
 * @param corrupt its checksums do not agree with what is on the disk; whoever reads it notices
 */
record SimBlock(
    long blockId, long generationStamp, long lengthBytes, Content content, boolean corrupt) {
  SimBlock(long blockId, long generationStamp, long lengthBytes, Content content) {
    this(blockId, generationStamp, lengthBytes, content, false);
  }

  SimBlock corrupted() {
    return new SimBlock(blockId, generationStamp, lengthBytes, Content.garbage(), true);
  }

  boolean is(long wantedStamp, long wantedLength) {
    return generationStamp == wantedStamp && lengthBytes == wantedLength;
  }

  Block toBlock() {
    return new Block(blockId, lengthBytes, generationStamp);
  }
}
