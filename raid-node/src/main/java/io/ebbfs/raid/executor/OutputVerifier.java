package io.ebbfs.raid.executor;

import io.ebbfs.coding.checksum.Crc32cAlgebra;
import io.ebbfs.protocol.proto.ChunkProtos.CheckedSourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombinedTargetProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.CodingProtos.BadBlockProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import io.ebbfs.protocol.proto.CodingProtos.CombinedCheckProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import io.ebbfs.raid.channel.ChunkChannel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Verifies the blocks that the combines of a transition have written, before the commit. XOR
 * equations are verified from checksum files alone. Other parities were checked in memory by the
 * combine that wrote them: the checksum files say whether the blocks on the disks are those that it
 * checked. What no combine could check is verified by a combine that computes stored blocks from
 * the written ones and writes nothing. A part of a block group has the checksum that follows from
 * those of its cells ({@link GatherCheck}).
 */
final class OutputVerifier {
  /** Lets a chunk server combine, within the limits of all combines. */
  interface Combines {
    CombineResponseProto run(StepProto step) throws IOException, InterruptedException;
  }

  /**
   * The result of the checks.
   *
   * @param failure why a check was not passed; null if all were
   * @param wrong whether a check ran and did not hold: a written block is wrong, or a stored one
   * @param passed number of checks passed
   * @param bad replicas that their own servers found missing or corrupt
   */
  record Result(
      String failure,
      boolean wrong,
      int passed,
      int blocksRead,
      long bytesRead,
      long bytesReadRemote,
      List<BadBlockProto> bad) {}

  private final ChunkChannel chunks;
  private final Combines combines;
  private final ChecksumFetcher checksums;
  private final List<CombineResponseProto> results;
  private int passed;
  private int blocksRead;
  private long bytesRead;
  private long bytesReadRemote;
  private final List<BadBlockProto> bad = new ArrayList<>();

  /**
   * For the checks of one transition.
   *
   * @param results the answers of its steps, in their order
   */
  OutputVerifier(
      ChunkChannel chunks,
      ParallelCalls threads,
      Combines combines,
      List<CombineResponseProto> results) {
    this.chunks = chunks;
    this.combines = combines;
    this.results = results;
    this.checksums = new ChecksumFetcher(chunks, threads);
  }

  /** Runs the checks. Ends at the first that is not passed. */
  Result run(List<CheckProto> checks) throws InterruptedException {
    fetch(checks);
    for (CheckProto check : checks) {
      for (SourceProto member : check.getMembersList()) {
        if (checksums.of(member) == null) {
          bad.addAll(checksums.bad());
          return result(
              "check of %s: %s".formatted(check.getName(), checksums.problem(member)), false);
        }
      }
      String wrong;
      try {
        wrong = wrong(check);
      } catch (IOException e) {
        return result("check of %s: %s".formatted(check.getName(), e.getMessage()), false);
      }
      if (wrong != null) {
        return result("check of %s failed: %s".formatted(check.getName(), wrong), true);
      }
      passed++;
    }
    return result(null, false);
  }

  /** Asks for all checksums. Those of cells come with those of their blocks. */
  private void fetch(List<CheckProto> checks) throws InterruptedException {
    Map<Integer, List<SourceProto>> byCellBytes = new TreeMap<>();
    List<SourceProto> members = new ArrayList<>();
    for (CheckProto check : checks) {
      if (check.hasGathered()) {
        members.add(check.getMembers(0));
        byCellBytes
            .computeIfAbsent(check.getGathered().getCellBytes(), bytes -> new ArrayList<>())
            .addAll(GatherCheck.dataBlocks(check));
      } else {
        members.addAll(check.getMembersList());
      }
    }
    for (Map.Entry<Integer, List<SourceProto>> blocks : byCellBytes.entrySet()) {
      checksums.fetchCells(blocks.getValue(), blocks.getKey());
    }
    checksums.fetch(members);
  }

  private Result result(String failure, boolean wrong) {
    return new Result(
        failure, wrong, passed, blocksRead, bytesRead, bytesReadRemote, List.copyOf(bad));
  }

  /** Why a check does not hold; null if it holds. */
  private String wrong(CheckProto check) throws IOException, InterruptedException {
    if (check.hasDecode()) {
      return decode(check);
    }
    if (check.hasGathered()) {
      return GatherCheck.wrong(check, checksums);
    }
    return check.hasCombined() ? combined(check) : xor(check);
  }

  /** Null if the stored blocks are those that the combine has checked in memory. */
  private String combined(CheckProto check) throws IOException {
    CombinedCheckProto combined = check.getCombined();
    List<Crc32cAlgebra.Sum> inMemory = new ArrayList<>();
    if (combined.getStep() < results.size()) {
      CombineResponseProto result = results.get(combined.getStep());
      for (int target : combined.getTargetsList()) {
        if (target < result.getTargetsCount()) {
          CombinedTargetProto written = result.getTargets(target);
          inMemory.add(new Crc32cAlgebra.Sum(written.getCrc32C(), written.getLengthBytes()));
        }
      }
      for (CheckedSourceProto read : result.getCheckedSourcesList()) {
        inMemory.add(new Crc32cAlgebra.Sum(read.getCrc32C(), read.getLengthBytes()));
      }
    }
    if (inMemory.size() != check.getMembersCount()) {
      throw new IOException(
          "step %d has checked %d blocks in memory, the claim names %d: give chunk servers, raid-nodes and namenodes the same version"
              .formatted(combined.getStep(), inMemory.size(), check.getMembersCount()));
    }
    for (int m = 0; m < inMemory.size(); m++) {
      SourceProto member = check.getMembers(m);
      if (!checksums.of(member).equals(inMemory.get(m))) {
        return "in the memory of the combine of step %d it had %d bytes with crc32c %08x, stored is %s"
            .formatted(
                combined.getStep(),
                inMemory.get(m).lengthBytes(),
                inMemory.get(m).crc32c(),
                show(member));
      }
    }
    return null;
  }

  /** Null if the members add up to zeros. */
  private String xor(CheckProto check) {
    List<Crc32cAlgebra.Sum> sums = check.getMembersList().stream().map(checksums::of).toList();
    int found = Crc32cAlgebra.xor(sums, check.getLengthBytes());
    int expected = Crc32cAlgebra.zeros(check.getLengthBytes());
    return found == expected
        ? null
        : "the checksums of its members %s add up to crc32c %08x, zeros have %08x"
            .formatted(
                check.getMembersList().stream().map(this::show).collect(Collectors.joining(", ")),
                found,
                expected);
  }

  private String show(SourceProto member) {
    return "block %d (%d bytes, crc32c %08x)"
        .formatted(
            member.getBlock().getBlockId(),
            member.getBlock().getNumBytes(),
            checksums.of(member).crc32c());
  }

  /** Null if the combine computes the stored blocks. */
  private String decode(CheckProto check) throws IOException, InterruptedException {
    CombineRequestProto combine = check.getDecode().getCombine();
    if (!combine.getCheck() || combine.getTargetsCount() != check.getMembersCount()) {
      throw new IOException(
          "the namenode sent a check of an unknown kind: give raid-node and namenode the same version");
    }
    CombineResponseProto response = combines.run(check.getDecode());
    blocksRead += response.getBlocksRead();
    bytesRead += response.getBytesReadLocal() + response.getBytesReadRemote();
    bytesReadRemote += response.getBytesReadRemote();
    if (response.getStatus() != CombineStatusProto.COMBINE_OK) {
      bad.addAll(new BadSourceFinder(chunks).among(combine, response));
      throw new IOException(TransitionExecutor.reason(response));
    }
    if (response.getTargetsCount() != combine.getTargetsCount()) {
      throw new IOException(
          "%d results for %d blocks"
              .formatted(response.getTargetsCount(), combine.getTargetsCount()));
    }
    for (int t = 0; t < combine.getTargetsCount(); t++) {
      long length = combine.getTargets(t).getBlock().getNumBytes();
      SourceProto member = check.getMembers(t);
      int stored = Crc32cAlgebra.zeroExtended(checksums.of(member), length);
      int decoded = response.getTargets(t).getCrc32C();
      if (stored != decoded || response.getTargets(t).getLengthBytes() != length) {
        return "blocks %s give block %d crc32c %08x over %d bytes, the stored one has %08x"
            .formatted(
                combine.getSourcesList().stream().map(s -> s.getBlock().getBlockId()).toList(),
                member.getBlock().getBlockId(),
                decoded,
                response.getTargets(t).getLengthBytes(),
                stored);
      }
    }
    return null;
  }
}
