package io.ebbfs.workloads.data;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.data.DataClient.FileSet;
import io.ebbfs.workloads.data.DataClient.Timing;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Degraded reads, repairs, and changes of redundancy, of EbbFS's fast and compact code and of three
 * replicas. HDFS has its policy RS-6-3 and three replicas; for a change of a policy a client copies
 * the files.
 *
 * @param files of 12 blocks each: a stripe
 */
record LostParts(int files, long blockBytes) implements RowGroup {
  private static final String STRIPED = "/lost-rs-6-3";
  private static final String REPLICATED = "/lost-replicas";
  private static final String RS_6_3 = "RS-6-3-1024k";
  private static final String RS_3_2 = "RS-3-2-1024k";
  private static final int DATA_BLOCKS = 12;

  private static final LossRows FAST = beside(Codes.LRC_FAST + " beside RS-6-3");
  private static final LossRows COMPACT = beside(Codes.LRC_COMPACT + " beside RS-6-3");
  private static final LossRows REPLICAS = beside("3 replicas beside 3 replicas");

  private static LossRows beside(String label) {
    return new LossRows(label, "read of a file");
  }

  private static final BenchmarkRow ENCODE = change("3 replicas to LRC(12,6,2) beside RS-6-3");
  private static final BenchmarkRow TO_COMPACT =
      change("LRC(12,6,2) to LRC(12,2,2) beside RS-3-2 to RS-6-3");
  private static final BenchmarkRow TO_FAST =
      change("LRC(12,2,2) to LRC(12,6,2) beside RS-6-3 to RS-3-2");

  private static BenchmarkRow change(String what) {
    return new BenchmarkRow(
        "change of redundancy: " + what, "order, copy", "bytes moved = the plan's");
  }

  @Override
  public String name() {
    return "encoded";
  }

  @Override
  public boolean isLong() {
    return true;
  }

  @Override
  public List<BenchmarkRow> rows() {
    List<BenchmarkRow> rows = new ArrayList<>();
    for (LossRows kind : List.of(FAST, COMPACT, REPLICAS)) {
      rows.addAll(kind.all());
    }
    rows.addAll(List.of(ENCODE, TO_COMPACT, TO_FAST));
    return rows;
  }

  private FileSet in(String directory) {
    return new FileSet(directory + "/f", files, DATA_BLOCKS * blockBytes);
  }

  @Override
  public void measure(Side side, int round, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    if (side.system() instanceof EbbfsSystem ebbfs) {
      ofEbbfs(ebbfs, side, recorder);
    } else {
      ofHdfs(side, recorder);
    }
    try (Protection replicas = new PlacesProtection(side.system(), REPLICATED, "", 3, 2)) {
      lose(side, replicas, List.of(REPLICAS), recorder);
    }
  }

  private void lose(Side side, Protection protection, List<LossRows> rows, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    FileSet written = in(protection.directory());
    protection.write(side, written);
    new LossSequence(side, protection, written, written.bytes(), rows, recorder).run();
    side.client().delete(protection.directory());
  }

  // ---- EbbFS ------------------------------------------------------------------------------------

  private void ofEbbfs(EbbfsSystem system, Side side, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    try (StripeProtection fast = new StripeProtection(system, Codes.LRC_FAST)) {
      convert(side, fast, recorder);
      lose(side, fast, List.of(FAST), recorder);
    }
    try (StripeProtection compact = new StripeProtection(system, Codes.LRC_COMPACT)) {
      compact.orders().awaitNoStripes();
      lose(side, compact, List.of(COMPACT), recorder);
      compact.orders().awaitNoStripes();
    }
  }

  private void convert(Side side, StripeProtection fast, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    FileSet written = in(fast.directory());
    EncodedByOrder orders = fast.orders();
    side.client().write(written, 3, files);
    ordered(ENCODE, () -> orders.encode(fast.directory(), Codes.LRC_FAST), orders, recorder);
    ordered(
        TO_COMPACT,
        () -> orders.convert(TransitionKindProto.UPCODE, Codes.LRC_COMPACT),
        orders,
        recorder);
    ordered(
        TO_FAST,
        () -> orders.convert(TransitionKindProto.DOWNCODE, Codes.LRC_FAST),
        orders,
        recorder);
    side.client().read(written, 1);
    side.client().delete(fast.directory());
    orders.awaitNoStripes();
  }

  private interface Order {
    void run() throws IOException, InterruptedException;
  }

  private void ordered(BenchmarkRow row, Order order, EncodedByOrder orders, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    long last = orders.lastTransition();
    Run run =
        recorder.measure(
            in("").allBytes(),
            () -> {
              long begin = System.nanoTime();
              order.run();
              long micros = (System.nanoTime() - begin) / 1000;
              return new Timing(micros, micros);
            });
    recorder.add(row, run.with(orders.movedSince(last)));
  }

  // ---- HDFS -------------------------------------------------------------------------------------

  private void ofHdfs(Side side, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    DataClient client = side.client();
    client.makeDirectory("/from-replicas", "");
    client.makeDirectory("/from-rs-6-3", RS_6_3);
    client.makeDirectory("/from-rs-3-2", RS_3_2);
    FileSet replicas = in("/from-replicas");
    client.write(replicas, 3, files);
    recorder.add(ENCODE, replicas.allBytes(), () -> client.copy(replicas, "/from-rs-6-3/f"));
    recorder.add(
        TO_FAST, replicas.allBytes(), () -> client.copy(in("/from-rs-6-3"), "/from-rs-3-2/f"));
    recorder.add(
        TO_COMPACT, replicas.allBytes(), () -> client.copy(in("/from-rs-3-2"), "/from-rs-6-3/f"));
    for (String directory : List.of("/from-replicas", "/from-rs-6-3", "/from-rs-3-2")) {
      client.delete(directory);
    }
    try (Protection striped = new PlacesProtection(side.system(), STRIPED, RS_6_3, 9, 7)) {
      lose(side, striped, List.of(FAST, COMPACT), recorder);
    }
  }
}
