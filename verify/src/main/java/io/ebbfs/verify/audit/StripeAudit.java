package io.ebbfs.verify.audit;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.gf.Gf256;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.verify.cluster.DiskInventory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks that each member of a stripe has one replica and that the parities follow from the data.
 * It computes them by itself: neither the planner nor the kernels of the chunk servers take part.
 */
final class StripeAudit {
  /** Takes what is wrong, as a format and its arguments. */
  interface Report {
    void wrong(String format, Object... arguments);
  }

  private final CodeRegistry codes;
  private final Report report;

  StripeAudit(CodeRegistry codes, Report report) {
    this.codes = codes;
    this.report = report;
  }

  /** Reads every member from its disk and compares each parity with the one that the data gives. */
  void check(StripeRow row, DiskInventory disks) throws IOException {
    ErasureCode code = codes.byName(row.getCode());
    Map<Integer, byte[]> bytes = new HashMap<>();
    for (StripeMemberProto member : row.getMembersList()) {
      List<Path> files = new ArrayList<>();
      disks
          .byStorage()
          .values()
          .forEach(
              blocks -> Optional.ofNullable(blocks.get(member.getBlockId())).ifPresent(files::add));
      if (files.size() != 1) {
        report.wrong(
            "stripe %d: position %d (block %d) has %d replicas: %s",
            row.getId(), member.getPosition(), member.getBlockId(), files.size(), files);
      }
      if (!files.isEmpty()) {
        try {
          bytes.put(member.getPosition(), Files.readAllBytes(files.get(0)));
        } catch (NoSuchFileException e) {
          report.wrong(
              "stripe %d: position %d (block %d) was deleted during the audit: %s",
              row.getId(), member.getPosition(), member.getBlockId(), files.get(0));
        }
      }
    }
    if (bytes.size() < row.getMembersCount()) {
      return;
    }
    for (int position : bytes.keySet()) {
      if (position >= code.dataCount()) {
        byte[] parity = parity(code, position, bytes, bytes.get(position).length);
        int differs = Arrays.mismatch(parity, bytes.get(position));
        if (differs >= 0) {
          report.wrong(
              "stripe %d in %s: %s does not follow from the data at byte %d",
              row.getId(), code, code.position(position).name(), differs);
        }
      }
    }
  }

  private static byte[] parity(
      ErasureCode code, int position, Map<Integer, byte[]> bytes, int length) {
    byte[] sum = new byte[length];
    for (int d = 0; d < code.dataCount(); d++) {
      int coefficient = code.generator().get(position, d);
      if (coefficient != 0 && bytes.containsKey(d)) {
        Gf256.addMultiple(sum, coefficient, Arrays.copyOf(bytes.get(d), length));
      }
    }
    return sum;
  }
}
