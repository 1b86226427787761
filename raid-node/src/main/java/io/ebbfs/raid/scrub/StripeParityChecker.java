package io.ebbfs.raid.scrub;

import io.ebbfs.coding.checksum.Crc32cAlgebra;
import io.ebbfs.coding.checksum.Crc32cAlgebra.Sum;
import io.ebbfs.coding.checksum.WrongBlockFinder;
import io.ebbfs.coding.checksum.WrongBlockFinder.EquationResult;
import io.ebbfs.coding.checksum.WrongBlockFinder.WrongBlocks;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.BadBlockProto;
import io.ebbfs.protocol.proto.CodingProtos.StoredMemberProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.raid.channel.ChunkChannel;
import io.ebbfs.raid.executor.Throttle;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Checks the parities of one stripe, once. Plain XOR parities are checked from the checksum files
 * of their members. Other parities are checked on request: a combine computes them from the data
 * and writes nothing. Members that cannot be read are not judged; the namenode learns of them by
 * itself. Used by one thread.
 */
final class StripeParityChecker {
  private static final int BYTES_PER_CHECKSUM = 512;
  private static final int CHECKSUM_FILE_HEADER = 7;

  /**
   * The findings.
   *
   * @param bad members whose own server found their file wrong
   * @param verdict the wrong parities and the suspect data
   * @param equations number of parities that were checked
   * @param unchecked number of parities that should have been checked and could not be
   * @param checksumBytes bytes of checksum files that were read
   * @param coveredBytes bytes of the blocks of these checksum files, which were not read
   * @param dataBytes bytes of data that were read to compute parities
   */
  record Result(
      List<BadBlockProto> bad,
      WrongBlocks verdict,
      int equations,
      int unchecked,
      long checksumBytes,
      long coveredBytes,
      long dataBytes) {
    boolean clean() {
      return bad.isEmpty() && verdict.clean();
    }
  }

  private final ChunkChannel chunks;
  private final Throttle throttle;
  private final StripeStatusProto status;
  private final ErasureCode code;
  private final SortedMap<Integer, SourceProto> members = new TreeMap<>();
  private final SortedMap<Integer, Sum> sums = new TreeMap<>();
  private final Map<Integer, EquationResult> checks = new TreeMap<>();
  private final List<BadBlockProto> bad = new ArrayList<>();
  private long checksumBytes;
  private long coveredBytes;
  private long dataBytes;

  /**
   * A check of one stripe.
   *
   * @param status with the locations of its members
   * @param throttle limits the bytes that computing a parity reads
   */
  StripeParityChecker(
      CodeRegistry codes, ChunkChannel chunks, Throttle throttle, StripeStatusProto status) {
    this.chunks = chunks;
    this.throttle = throttle;
    this.status = status;
    this.code = codes.byName(status.getStripe().getCode());
    for (StoredMemberProto member : status.getStoredList()) {
      members.put(member.getPosition(), member.getBlock());
    }
  }

  /**
   * Runs the check.
   *
   * @param decode also checks the parities that are no plain XOR. They are checked in any case if
   *     an XOR equation fails, to tell wrong data from a wrong parity.
   */
  Result run(boolean decode) throws InterruptedException {
    askForChecksums();
    SortedSet<Integer> others = new TreeSet<>();
    SortedSet<Integer> xors = new TreeSet<>();
    for (int position : members.keySet()) {
      if (code.position(position).isParity()) {
        (WrongBlockFinder.isPlainXor(code, position, members.keySet()) ? xors : others)
            .add(position);
      }
    }
    xors.forEach(this::checkXor);
    boolean failed = checks.values().stream().anyMatch(check -> !check.holds());
    if (decode || failed) {
      checkByEncoding(others);
    }
    int wanted = xors.size() + (decode ? others.size() : 0);
    WrongBlocks verdict = WrongBlockFinder.find(code, members.keySet(), checks);
    return new Result(
        bad,
        verdict,
        checks.size(),
        Math.max(0, wanted - checks.size()),
        checksumBytes,
        coveredBytes,
        dataBytes);
  }

  /** A finding for {@link Result#bad}: a wrong parity whose own checksums hold. */
  BadBlockProto wrongParity(int position) {
    return bad(
            position,
            "parity %s of stripe %d is not what the data makes it, by the checksums of both"
                .formatted(code.position(position).name(), status.getStripe().getId()))
        .build();
  }

  private BadBlockProto.Builder bad(int position, String reason) {
    return BadBlockProto.newBuilder()
        .setBlock(members.get(position).getBlock())
        .setLocation(members.get(position).getLocations(0))
        .setReason(reason);
  }

  // ---- checksums ------------------------------------------------------------------------------

  private void askForChecksums() {
    Map<DatanodeIDProto, List<Integer>> byServer = new LinkedHashMap<>();
    members.forEach(
        (position, source) -> {
          if (source.getLocationsCount() > 0) {
            BlockLocationProto at = source.getLocations(0);
            byServer.computeIfAbsent(at.getServer(), s -> new ArrayList<>()).add(position);
          }
        });
    byServer.forEach(this::askForChecksums);
  }

  private void askForChecksums(DatanodeIDProto server, List<Integer> positions) {
    VerifyRequestProto.Builder request = VerifyRequestProto.newBuilder().setChecksumsOnly(true);
    positions.forEach(position -> request.addBlocks(members.get(position).getBlock()));
    VerifyResponseProto response;
    try {
      response = chunks.verify(server, request.build());
    } catch (IOException e) {
      // The namenode notices by itself if the server is dead.
      return;
    }
    if (response.getBlocksCount() != positions.size()) {
      return;
    }
    for (int i = 0; i < positions.size(); i++) {
      take(positions.get(i), response.getBlocks(i));
    }
  }

  private void take(int position, VerifiedBlockProto found) {
    long length = members.get(position).getBlock().getNumBytes();
    if (found.getHealth() == BlockHealthProto.BLOCK_UNKNOWN) {
      return; // a disk of the server has failed: the namenode learns of it by itself
    }
    if (found.getHealth() != BlockHealthProto.BLOCK_OK) {
      bad.add(
          bad(position, found.getHealth() + ": " + found.getMessage())
              .setHealth(found.getHealth())
              .build());
    } else if (found.getLengthBytes() != length) {
      bad.add(
          bad(position, "%d bytes instead of %d".formatted(found.getLengthBytes(), length))
              .setHealth(BlockHealthProto.BLOCK_CORRUPT)
              .build());
    } else {
      sums.put(position, new Sum(found.getCrc32C(), length));
      checksumBytes += CHECKSUM_FILE_HEADER + 4 * chunks(length);
      coveredBytes += length;
    }
  }

  private static long chunks(long lengthBytes) {
    return (lengthBytes + BYTES_PER_CHECKSUM - 1) / BYTES_PER_CHECKSUM;
  }

  // ---- equations ------------------------------------------------------------------------------

  private void checkXor(int parity) {
    Collection<Integer> data = WrongBlockFinder.equation(code, parity, members.keySet()).keySet();
    if (!sums.containsKey(parity) || !sums.keySet().containsAll(data)) {
      return;
    }
    List<Sum> equation = new ArrayList<>(List.of(sums.get(parity)));
    data.forEach(d -> equation.add(sums.get(d)));
    long longest = sums.values().stream().mapToLong(Sum::lengthBytes).max().orElse(0);
    checks.put(parity, EquationResult.ofDifference(Crc32cAlgebra.difference(equation, longest)));
  }

  /** Checks all these parities by one combine, which reads the data once. */
  private void checkByEncoding(SortedSet<Integer> parities) throws InterruptedException {
    SortedSet<Integer> data = new TreeSet<>();
    List<Integer> checked = new ArrayList<>();
    for (int parity : parities) {
      Collection<Integer> covered =
          WrongBlockFinder.equation(code, parity, members.keySet()).keySet();
      if (sums.containsKey(parity) && sums.keySet().containsAll(covered)) {
        checked.add(parity);
        data.addAll(covered);
      }
    }
    if (checked.isEmpty()) {
      return;
    }
    CombineRequestProto request = encoding(List.copyOf(data), checked);
    throttle.acquire(
        request.getSourcesList().stream().mapToLong(s -> s.getBlock().getNumBytes()).sum());
    CombineResponseProto response;
    try {
      response = chunks.combine(request.getSources(0).getLocations(0).getServer(), request);
    } catch (IOException e) {
      return;
    }
    dataBytes += response.getBytesReadLocal() + response.getBytesReadRemote();
    if (response.getStatus() != CombineStatusProto.COMBINE_OK
        || response.getTargetsCount() != checked.size()) {
      return;
    }
    for (int i = 0; i < checked.size(); i++) {
      boolean same = response.getTargets(i).getCrc32C() == sums.get(checked.get(i)).crc32c();
      checks.put(checked.get(i), same ? EquationResult.HOLDS : EquationResult.FAILS);
    }
  }

  private CombineRequestProto encoding(List<Integer> data, List<Integer> parities) {
    byte[] coefficients = new byte[data.size() * parities.size()];
    CombineRequestProto.Builder request =
        CombineRequestProto.newBuilder()
            .setCheck(true)
            .setId(
                "scrub-%d-%d"
                    .formatted(status.getStripe().getId(), status.getStripe().getGeneration()));
    data.forEach(d -> request.addSources(members.get(d)));
    for (int p = 0; p < parities.size(); p++) {
      SourceProto parity = members.get(parities.get(p));
      request.addTargets(
          TargetProto.newBuilder().setBlock(parity.getBlock()).setLocation(parity.getLocations(0)));
      for (int d = 0; d < data.size(); d++) {
        coefficients[p * data.size() + d] =
            (byte) code.generator().get(parities.get(p), data.get(d));
      }
    }
    return request.setCoefficients(ByteString.copyFrom(coefficients)).build();
  }
}
