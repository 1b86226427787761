package io.ebbfs.workloads.data;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.workloads.data.DataClient.FileSet;
import java.io.IOException;
import java.util.List;

/** A code of EbbFS. The namenode is ordered to encode the files. */
final class StripeProtection implements Protection {
  private static final String DIRECTORY = "/encoded";

  private final EncodedByOrder orders;
  private final String code;
  private List<StripeStatusProto> before = List.of();
  private long last;

  StripeProtection(EbbfsSystem system, String code) throws IOException {
    this.orders = new EncodedByOrder(system.cluster());
    this.code = code;
  }

  @Override
  public String directory() {
    return DIRECTORY;
  }

  @Override
  public long storedBytes(FileSet files) {
    ErasureCode built = Codes.byName(code);
    return files.allBytes() * built.size() / built.dataCount();
  }

  @Override
  public void write(Side side, FileSet files) throws IOException, InterruptedException {
    side.loader().write(files, 3, files.count());
    orders.encode(DIRECTORY, code);
    remember();
  }

  EncodedByOrder orders() {
    return orders;
  }

  private void remember() throws IOException {
    before = orders.stripes();
    last = orders.lastTransition();
  }

  @Override
  public void awaitLoss() throws IOException, InterruptedException {
    orders.awaitLoss();
  }

  @Override
  public void awaitWhole() throws IOException, InterruptedException {
    orders.awaitWhole();
  }

  @Override
  public Run.Traffic traffic(long lostBytes) throws IOException {
    Run.Traffic traffic = orders.repairsSince(last, before);
    remember();
    return traffic;
  }

  @Override
  public void close() {
    orders.close();
  }
}
