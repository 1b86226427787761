package io.ebbfs.namespace.simulation;

/** A finalized block on a simulated disk. */
record SimBlock(long blockId, long generationStamp, long lengthBytes, Content content) {}
