package io.ebbfs.cli.server;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.definitions.CodeDefinitions;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.DefinedCodeProto;
import io.ebbfs.protocol.proto.CodingProtos.DefinedCodesProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.rpc.RemoteCall;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Whether the namenode means the same codes by the same names. Each process reads codes.yaml for
 * itself when it starts; a control plane with other definitions would decide by wrong costs.
 */
final class CodesAgreement implements AutoCloseable {
  private static final long PAUSE_MILLIS = 1_000;

  private final CodeRegistry codes;
  private final Supplier<CodingProtocol> namenode;
  private final String address;
  private Thread watch;

  /**
   * A check that is not made yet.
   *
   * @param codes the codes of this process
   * @param address of the namenode, for messages
   */
  CodesAgreement(CodeRegistry codes, Supplier<CodingProtocol> namenode, String address) {
    this.codes = codes;
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
    GetClusterRequestProto request = GetClusterRequestProto.newBuilder().setWithCodes(true).build();
    GetClusterResponseProto response =
        RemoteCall.answerOf(() -> namenode.get().getCluster(null, request));
    if (!response.hasDefinedCodes()) {
      return Optional.empty();
    }
    DefinedCodesProto defined = response.getDefinedCodes();
    CodeDefinitions there =
        new CodeDefinitions(map(defined.getCodesList()), map(defined.getPairsList()));
    return CodeDefinitions.of(codes)
        .difference("this control plane", there, "namenode " + address)
        .map(
            what ->
                what
                    + "; give both the same codes.yaml (here in --conf, there by --codes or"
                    + " 'codes:' in namenode.yaml) and start again what had the wrong one");
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
