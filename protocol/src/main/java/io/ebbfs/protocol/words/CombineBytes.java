package io.ebbfs.protocol.words;

import io.ebbfs.protocol.proto.ChunkProtos.CellsProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;

/** How many bytes a combine reads, for limits and plans. Stateless. */
public final class CombineBytes {
  private CombineBytes() {}

  /** The length of the longest target. */
  public static long longestTarget(CombineRequestProto combine) {
    return combine.getTargetsList().stream()
        .mapToLong(target -> target.getBlock().getNumBytes())
        .max()
        .orElse(0);
  }

  /**
   * The bytes of a source: all of a whole block, or those of its cells that lie in the outputs.
   *
   * @param longestTarget of the combine
   */
  public static long ofSource(SourceProto source, long longestTarget) {
    long length = source.getBlock().getNumBytes();
    if (!source.hasCells()) {
      return length;
    }
    CellsProto cells = source.getCells();
    long end = before(cells, cells.getStartBytes() + longestTarget);
    return Math.max(0, Math.min(length, end) - before(cells, cells.getStartBytes()));
  }

  /** How much of the data of a group before some byte lies in one of its data blocks. */
  private static long before(CellsProto cells, long bytes) {
    long cell = cells.getCellBytes();
    long row = cell * cells.getUnits();
    long rest = bytes % row - cell * cells.getUnit();
    return bytes / row * cell + Math.min(cell, Math.max(0, rest));
  }
}
