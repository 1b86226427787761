package io.ebbfs.workloads.data;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.data.DataClient.FileSet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Degraded reads and repairs of each code of EbbFS, and of files that its clients encode, beside
 * RS-6-3 of HDFS. The first six blocks of a file are read, of which one is lost if a code has a
 * server for each block: they are a block group of HDFS.
 */
record LossesByCode(long blockBytes) implements RowGroup {
  static final String NAME = "losses";

  /** Three servers hold nothing of a block group of HDFS, so that repairs have places to choose. */
  static final int SERVERS = 12;

  /** Of each server: PC(6x5) needs 42 in all. */
  static final int DISKS = 4;

  private static final String RS_6_3 = "RS-6-3-1024k";
  private static final int READ_BLOCKS = 6;

  /** Data blocks in all, or somewhat fewer: whole stripes of each code. */
  private static final int BLOCKS = 30;

  private static final List<String> CODES =
      List.of(Codes.RS_FAST, Codes.PC_FAST, Codes.PC_COMPACT, Codes.LRC_FAST, Codes.LRC_COMPACT);

  private static final LossRows BY_CLIENT = beside("RS-6-3 by the client");

  private static LossRows beside(String redundancy) {
    return new LossRows(redundancy + " beside RS-6-3", "read of six blocks");
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public boolean isLong() {
    return true;
  }

  private static List<LossRows> kinds() {
    List<LossRows> kinds = new ArrayList<>(CODES.stream().map(LossesByCode::beside).toList());
    kinds.add(BY_CLIENT);
    return kinds;
  }

  @Override
  public List<BenchmarkRow> rows() {
    return kinds().stream().flatMap(kind -> kind.all().stream()).toList();
  }

  /** A file for each stripe. */
  private FileSet in(String directory, int dataBlocks) {
    return new FileSet(directory + "/f", BLOCKS / dataBlocks, dataBlocks * blockBytes);
  }

  @Override
  public void measure(Side side, int round, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    if (side.system() instanceof EbbfsSystem ebbfs) {
      for (String code : CODES) {
        byOrder(ebbfs, side, code, recorder);
      }
      byClient(side, List.of(BY_CLIENT), recorder);
    } else {
      byClient(side, kinds(), recorder);
    }
  }

  private void byOrder(EbbfsSystem system, Side side, String code, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    try (StripeProtection protection = new StripeProtection(system, code)) {
      FileSet files = in(protection.directory(), Codes.byName(code).dataCount());
      lose(side, protection, files, List.of(beside(code)), recorder);
      protection.orders().awaitNoStripes();
    }
  }

  private void byClient(Side side, List<LossRows> rows, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    try (Protection protection =
        new PlacesProtection(side.system(), "/lost-by-client", RS_6_3, 9, 7)) {
      lose(side, protection, in(protection.directory(), READ_BLOCKS), rows, recorder);
    }
  }

  private void lose(
      Side side, Protection protection, FileSet files, List<LossRows> rows, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    protection.write(side, files);
    new LossSequence(side, protection, files, READ_BLOCKS * blockBytes, rows, recorder).run();
    side.loader().delete(protection.directory());
  }
}
