package io.ebbfs.raid.executor;

import io.ebbfs.coding.checksum.Crc32cAlgebra;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import io.ebbfs.protocol.proto.CodingProtos.GatheredCheckProto;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Whether a written block is a part of the data of a block group: its checksum must be that of the
 * cells, one after the other, in the order in which they go round over the data blocks. Stateless.
 */
final class GatherCheck {
  private GatherCheck() {}

  /** The blocks of the group. */
  static List<SourceProto> dataBlocks(CheckProto check) {
    return check.getMembersList().subList(1, check.getMembersCount());
  }

  /**
   * Why the check does not hold; null if it holds.
   *
   * @param checksums of the written block, and of the cells of the others
   * @throws IOException if the check contradicts itself
   */
  static String wrong(CheckProto check, ChecksumFetcher checksums) throws IOException {
    GatheredCheckProto gathered = check.getGathered();
    Map<Integer, SourceProto> byUnit = new HashMap<>();
    dataBlocks(check).forEach(block -> byUnit.put(block.getCells().getUnit(), block));
    SourceProto written = check.getMembers(0);
    long first = gathered.getStartBytes() / gathered.getCellBytes();
    int crc = 0;
    long length = 0;
    for (long cell = first; length < written.getBlock().getNumBytes(); cell++) {
      SourceProto block = byUnit.get((int) (cell % gathered.getUnits()));
      List<Crc32cAlgebra.Sum> cells = block == null ? List.of() : checksums.cellsOf(block);
      int row = (int) (cell / gathered.getUnits());
      if (row >= cells.size()) {
        throw new IOException(
            "the namenode names no block with cell %d of the group: give raid-node and namenode the same version"
                .formatted(cell));
      }
      crc = Crc32cAlgebra.concat(crc, cells.get(row).crc32c(), cells.get(row).lengthBytes());
      length += cells.get(row).lengthBytes();
    }
    Crc32cAlgebra.Sum stored = checksums.of(written);
    return stored.equals(new Crc32cAlgebra.Sum(crc, length))
        ? null
        : "stored are %d bytes with crc32c %08x, the cells of the group from byte %d on have %d with %08x"
            .formatted(
                stored.lengthBytes(), stored.crc32c(), gathered.getStartBytes(), length, crc);
  }
}
