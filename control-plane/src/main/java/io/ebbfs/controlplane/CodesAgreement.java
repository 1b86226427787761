package io.ebbfs.controlplane;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.DefinedCodeProto;
import io.ebbfs.protocol.proto.CodingProtos.DefinedCodesProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.settings.codes.DefinedCodes;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * Whether the namenode means the same codes by the same names. Each process reads codes.yaml for
 * itself when it starts; a control plane with other definitions would decide by wrong costs.
 */
final class CodesAgreement implements AutoCloseable {
  private static final long PAUSE_MILLIS = 1_000;

  private final Supplier<CodingProtocol> namenode;
  private final String address;
  private Thread watch;

  /**
   * @param address of the namenode, for messages
   */
  CodesAgreement(Supplier<CodingProtocol> namenode, String address) {
    this.namenode = namenode;
    this.address = address;
  }

  /**
   * Asks once.
   *
   * @return what differs and what to do; empty if nothing does, or the namenode is of an older
   *     version, which does not tell
   * @throws IOException if there was no answer
   */
  Optional<String> check() throws IOException {
    GetClusterResponseProto response;
    try {
      response =
          namenode
              .get()
              .getCluster(null, GetClusterRequestProto.newBuilder().setWithCodes(true).build());
    } catch (ServiceException e) {
      throw new IOException(e);
    }
    if (!response.hasDefinedCodes()) {
      return Optional.empty();
    }
    DefinedCodesProto codes = response.getDefinedCodes();
    DefinedCodes there = new DefinedCodes(map(codes.getCodesList()), map(codes.getPairsList()));
    return DefinedCodes.ofThisProcess()
        .difference("this control plane", there, "namenode " + address)
        .map(
            what ->
                what
                    + "; give both the same codes.yaml (here in --conf, there by --codes or 'codes:'"
                    + " in namenode.yaml) and start again what had the wrong one");
  }

  private static SortedMap<String, String> map(List<DefinedCodeProto> codes) {
    SortedMap<String, String> map = new TreeMap<>();
    codes.forEach(code -> map.put(code.getName(), code.getDefinition()));
    return map;
  }

  /** Goes on asking until the first answer; what differs is told once. */
  void watch(Consumer<String> differs) {
    watch =
        new Thread(
            () -> {
              try {
                awaitAnswer().ifPresent(differs);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "codes-agreement");
    watch.setDaemon(true);
    watch.start();
  }

  private Optional<String> awaitAnswer() throws InterruptedException {
    while (true) {
      try {
        return check();
      } catch (IOException e) {
        Thread.sleep(PAUSE_MILLIS);
      }
    }
  }

  @Override
  public void close() {
    if (watch != null) {
      watch.interrupt();
    }
  }
}
