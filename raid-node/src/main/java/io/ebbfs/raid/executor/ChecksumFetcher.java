package io.ebbfs.raid.executor;

import io.ebbfs.coding.checksum.Crc32cAlgebra;
import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.BadBlockProto;
import io.ebbfs.raid.channel.ChunkChannel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;

/**
 * Fetches the CRC32C of stored blocks from the checksum files at the chunk servers. Each server is
 * asked once for all its blocks, several servers in parallel. If the first location of a block does
 * not answer, the next location is asked. Not thread-safe.
 */
final class ChecksumFetcher {
  /** Blocks of one request, so that an answer stays small and takes little time. */
  private static final int MOST_AT_ONCE = 256;

  private final ChunkChannel chunks;
  private final ParallelCalls threads;
  private final Map<SourceProto, Crc32cAlgebra.Sum> known = new LinkedHashMap<>();
  private final Map<SourceProto, List<Crc32cAlgebra.Sum>> cells = new LinkedHashMap<>();
  private final Map<SourceProto, String> problems = new LinkedHashMap<>();
  private final List<BadBlockProto> bad = new ArrayList<>();

  ChecksumFetcher(ChunkChannel chunks, ParallelCalls threads) {
    this.chunks = chunks;
    this.threads = threads;
  }

  /** A block at one of its locations. */
  private record Asked(SourceProto source, BlockLocationProto at) {}

  /** The health of each block that a server was asked for, or none and the reason. */
  private record Answer(List<Asked> asked, List<VerifiedBlockProto> found, String trouble) {}

  /** Asks for the unknown checksums. For a checksum that stays unknown see {@link #problem}. */
  void fetch(Collection<SourceProto> sources) throws InterruptedException {
    fetch(sources, 0);
  }

  /**
   * Asks for the checksums of blocks and of their cells, of so many bytes each. A block must not be
   * asked for before without its cells.
   */
  void fetchCells(Collection<SourceProto> sources, int cellBytes) throws InterruptedException {
    fetch(sources, cellBytes);
  }

  private void fetch(Collection<SourceProto> sources, int cellBytes) throws InterruptedException {
    Set<SourceProto> open = new LinkedHashSet<>(sources);
    open.removeAll(known.keySet());
    for (int place = 0; !open.isEmpty(); place++) {
      Map<DatanodeIDProto, List<Asked>> byServer = new LinkedHashMap<>();
      for (SourceProto source : List.copyOf(open)) {
        if (place < source.getLocationsCount()) {
          BlockLocationProto at = source.getLocations(place);
          byServer
              .computeIfAbsent(at.getServer(), server -> new ArrayList<>())
              .add(new Asked(source, at));
        } else {
          open.remove(source);
        }
      }
      List<Callable<Answer>> questions = new ArrayList<>();
      byServer.forEach((server, blocks) -> questions.addAll(questions(server, blocks, cellBytes)));
      threads.all(questions).forEach(answer -> take(answer, cellBytes));
      open.removeAll(known.keySet());
    }
  }

  /** The checksum of a block; null if it is unknown. */
  Crc32cAlgebra.Sum of(SourceProto source) {
    return known.get(source);
  }

  /** The checksums of the cells of a block; none if they were not asked for. */
  List<Crc32cAlgebra.Sum> cellsOf(SourceProto source) {
    return cells.getOrDefault(source, List.of());
  }

  /** Why the checksum of a block is not known. */
  String problem(SourceProto source) {
    return "no checksum of block %d: %s"
        .formatted(
            source.getBlock().getBlockId(), problems.getOrDefault(source, "it has no location"));
  }

  /** Replicas that their own servers found missing or corrupt. */
  List<BadBlockProto> bad() {
    return bad;
  }

  private List<Callable<Answer>> questions(
      DatanodeIDProto server, List<Asked> blocks, int cellBytes) {
    List<Callable<Answer>> questions = new ArrayList<>();
    for (int from = 0; from < blocks.size(); from += MOST_AT_ONCE) {
      List<Asked> some = blocks.subList(from, Math.min(blocks.size(), from + MOST_AT_ONCE));
      questions.add(() -> ask(server, some, cellBytes));
    }
    return questions;
  }

  private Answer ask(DatanodeIDProto server, List<Asked> blocks, int cellBytes) {
    VerifyRequestProto.Builder request = VerifyRequestProto.newBuilder().setChecksumsOnly(true);
    if (cellBytes > 0) {
      request.setCellBytes(cellBytes);
    }
    blocks.forEach(asked -> request.addBlocks(asked.source().getBlock()));
    try {
      VerifyResponseProto response = chunks.verify(server, request.build());
      return response.getBlocksCount() == blocks.size()
          ? new Answer(blocks, response.getBlocksList(), "")
          : new Answer(
              blocks,
              List.of(),
              "%d answers for %d blocks".formatted(response.getBlocksCount(), blocks.size()));
    } catch (IOException e) {
      return new Answer(blocks, List.of(), e.toString());
    }
  }

  private void take(Answer answer, int cellBytes) {
    for (int i = 0; i < answer.asked.size(); i++) {
      Asked asked = answer.asked.get(i);
      if (answer.found.isEmpty()) {
        problems.put(asked.source(), where(asked) + ": " + answer.trouble);
      } else {
        take(asked, answer.found.get(i), cellBytes);
      }
    }
  }

  private void take(Asked asked, VerifiedBlockProto answer, int cellBytes) {
    long length = asked.source().getBlock().getNumBytes();
    if (answer.getHealth() != BlockHealthProto.BLOCK_OK) {
      String reason = answer.getHealth() + ": " + answer.getMessage();
      problems.put(asked.source(), where(asked) + ": " + reason);
      if (answer.getHealth() == BlockHealthProto.BLOCK_UNKNOWN) {
        return;
      }
      bad.add(
          BadBlockProto.newBuilder()
              .setBlock(asked.source().getBlock())
              .setLocation(asked.at())
              .setReason(reason)
              .setHealth(answer.getHealth())
              .build());
    } else if (!answer.hasCrc32C() || answer.getLengthBytes() != length) {
      problems.put(
          asked.source(),
          "%s: the answer is about %d bytes, the block has %d"
              .formatted(where(asked), answer.getLengthBytes(), length));
    } else if (cellBytes > 0
        && answer.getCellCrc32CCount() != (length + cellBytes - 1) / cellBytes) {
      problems.put(
          asked.source(),
          "%s: the answer has no checksums of cells: give the chunk server the namenode's version"
              .formatted(where(asked)));
    } else {
      known.put(asked.source(), new Crc32cAlgebra.Sum(answer.getCrc32C(), length));
      if (cellBytes > 0) {
        cells.put(asked.source(), cells(answer, length, cellBytes));
      }
    }
  }

  private static List<Crc32cAlgebra.Sum> cells(
      VerifiedBlockProto answer, long length, int cellBytes) {
    List<Crc32cAlgebra.Sum> cells = new ArrayList<>();
    for (int i = 0; i < answer.getCellCrc32CCount(); i++) {
      long left = length - (long) i * cellBytes;
      cells.add(new Crc32cAlgebra.Sum(answer.getCellCrc32C(i), Math.min(cellBytes, left)));
    }
    return cells;
  }

  private static String where(Asked asked) {
    DatanodeIDProto server = asked.at().getServer();
    return server.getIpAddr() + ":" + server.getIpcPort();
  }
}
