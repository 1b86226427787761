package io.ebbfs.namespace.coding;

import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/**
 * What only the block manager counts. Its functions are thread-safe.
 *
 * @param underReplicatedBlocks blocks in no stripe with fewer live replicas than wanted
 * @param missingBlocks blocks in no stripe without a live replica
 * @param blocksOn replicas on the disk with this storage uuid
 */
public record BlockCounts(
    LongSupplier underReplicatedBlocks,
    LongSupplier missingBlocks,
    ToLongFunction<String> blocksOn) {}
