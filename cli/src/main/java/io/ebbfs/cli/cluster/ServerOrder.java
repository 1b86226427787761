package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.Json;
import io.ebbfs.common.config.Units;
import io.ebbfs.protocol.proto.CodingProtos.DrainRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.DrainResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.HibernateRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.HibernateResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RemoteCall;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** An order about one server, and its options. */
final class ServerOrder {
  @Mixin private Json json;

  @Option(names = "--dry-run", description = "Only tells what would be done.")
  private boolean dryRun;

  @Option(names = "--detach", description = "Does not wait for the end.")
  private boolean detach;

  @Parameters(
      paramLabel = "SERVER",
      description = "The server: HOST, HOST:PORT or its uuid, as 'ebb admin status' tells them.")
  private String name;

  /** Begins or ends a drain, and follows it. */
  int drain(NamenodeClient namenode, boolean end)
      throws ClusterException, IOException, InterruptedException {
    ServerStatusProto server = AdminTarget.server(namenode, name);
    DrainRequestProto request =
        DrainRequestProto.newBuilder()
            .setServerUuid(uuid(server))
            .setEnd(end)
            .setDryRun(dryRun)
            .build();
    DrainResponseProto answer = RemoteCall.answerOf(() -> namenode.coding().drain(null, request));
    refuse(answer.hasRefusal(), answer.getRefusal());
    Map<String, Object> figures = figures(server, end ? "unevict" : "evict");
    figures.put("blocks", answer.getBlocks());
    figures.put("bytes", answer.getBytes());
    figures.put("estimated", answer.getEstimated());
    figures.put("serversThatStay", answer.getServersThatStay());
    figures.put("freeBytesThatStay", answer.getFreeBytesThatStay());
    String about = answer.getEstimated() ? "about " : "";
    tell(
        end
            ? "Server %s takes blocks again.".formatted(AdminTarget.nameOf(server))
            : "Server %s takes no new blocks; %s%,d blocks (%s) get places on %d other servers, which have %s free."
                .formatted(
                    AdminTarget.nameOf(server),
                    about,
                    answer.getBlocks(),
                    Units.showBytes(answer.getBytes()),
                    answer.getServersThatStay(),
                    Units.showBytes(answer.getFreeBytesThatStay())));
    return follow(namenode, figures, !end, now -> now.getDrain().getDrained());
  }

  /** Lets the server hibernate, and waits until it may be stopped. */
  int hibernate(NamenodeClient namenode, long forMillis)
      throws ClusterException, IOException, InterruptedException {
    return sleep(namenode, false, forMillis);
  }

  /** Ends the hibernation. */
  int wake(NamenodeClient namenode) throws ClusterException, IOException, InterruptedException {
    return sleep(namenode, true, 0);
  }

  private int sleep(NamenodeClient namenode, boolean end, long forMillis)
      throws ClusterException, IOException, InterruptedException {
    ServerStatusProto server = AdminTarget.server(namenode, name);
    HibernateRequestProto request =
        HibernateRequestProto.newBuilder()
            .setServerUuid(uuid(server))
            .setEnd(end)
            .setDryRun(dryRun)
            .setForMillis(forMillis)
            .build();
    HibernateResponseProto answer =
        RemoteCall.answerOf(() -> namenode.coding().hibernate(null, request));
    refuse(answer.hasRefusal(), answer.getRefusal());
    Map<String, Object> figures = figures(server, end ? "wake" : "hibernate");
    figures.put("blocks", answer.getBlocks());
    figures.put("blocksChecked", answer.getBlocksChecked());
    if (answer.hasUntilMillis()) {
      figures.put("until", Instant.ofEpochMilli(answer.getUntilMillis()).toString());
    }
    tell(
        end
            ? "Server %s is an ordinary server again.".formatted(AdminTarget.nameOf(server))
            : "Server %s takes no new blocks, and nothing is repaired for it until %s. Of its %,d blocks %,d were checked: they survive another loss meanwhile."
                .formatted(
                    AdminTarget.nameOf(server),
                    Instant.ofEpochMilli(answer.getUntilMillis()),
                    answer.getBlocks(),
                    answer.getBlocksChecked()));
    return follow(
        namenode, figures, !end, now -> !now.hasHibernation() || now.getHibernation().getReady());
  }

  private static String uuid(ServerStatusProto server) {
    return server.getServer().getDatanodeUuid();
  }

  private static void refuse(boolean refused, String why) throws ClusterException {
    if (refused) {
      throw new ClusterException(why);
    }
  }

  private Map<String, Object> figures(ServerStatusProto server, String what) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("action", what);
    figures.put("server", AdminTarget.nameOf(server));
    figures.put("uuid", uuid(server));
    figures.put("dryRun", dryRun);
    return figures;
  }

  private void tell(String text) {
    if (!json.isAsked()) {
      System.out.println((dryRun ? "Dry run: " : "") + text);
    }
  }

  /**
   * Prints the progress until the namenode has carried out the order, unless the user asked not to
   * wait.
   */
  private int follow(
      NamenodeClient namenode,
      Map<String, Object> figures,
      boolean takesTime,
      Predicate<ServerStatusProto> isDone)
      throws ClusterException, IOException, InterruptedException {
    boolean waits = takesTime && !dryRun && !detach;
    ServerStatusProto now = AdminTarget.server(namenode, (String) figures.get("uuid"));
    String shown = "";
    while (waits && !isDone.test(now)) {
      String text = ServerState.of(now).text();
      if (!text.equals(shown)) {
        tell(text);
        shown = text;
      }
      AdminTarget.pause();
      now = AdminTarget.server(namenode, (String) figures.get("uuid"));
    }
    ServerState state = ServerState.of(now);
    if (json.isAsked()) {
      figures.put("server", state);
      Json.print(figures);
    } else if (!dryRun) {
      System.out.println(
          state.text() + (waits ? System.lineSeparator() + "The server may be stopped." : ""));
    }
    return 0;
  }
}
