package io.ebbfs.namenode.tasks.lifecycle;

import io.ebbfs.namenode.datanodes.ByteRate;

/**
 * What transitions may take of the chunk servers, over all raid-nodes.
 *
 * @param combinesPerServer combines that one server runs at once; 0: no limit
 * @param readsPerServer combines for which one server reads sources at once; 0: no limit
 * @param repair bytes per second of repairs
 * @param conversion bytes per second of encodings, conversions, re-placements and rewrites
 */
public record BackgroundLimits(
    int combinesPerServer, int readsPerServer, ByteRate repair, ByteRate conversion) {
  /** No limits. */
  public static final BackgroundLimits NONE =
      new BackgroundLimits(0, 0, ByteRate.UNLIMITED, ByteRate.UNLIMITED);
}
