package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.replicas.BlockPlaces;
import java.util.List;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicy;

/**
 * Where a client reads a range of a file.
 *
 * @param lengthBytes of the file, as far as its blocks are finished
 * @param blocks the finished blocks in the range
 * @param last the last block of the file; null if the file has none
 * @param policy the erasure coding policy of a file with block groups; else null
 */
public record FilePlaces(
    long lengthBytes,
    boolean underConstruction,
    List<BlockPlaces> blocks,
    BlockPlaces last,
    boolean lastComplete,
    ErasureCodingPolicy policy) {}
