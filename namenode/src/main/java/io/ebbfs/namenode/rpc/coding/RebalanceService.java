package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RebalanceSettings;
import io.ebbfs.namenode.placement.BalancePlan.Flow;
import io.ebbfs.namenode.replicas.Rebalancer;
import io.ebbfs.namenode.replicas.Rebalancer.Progress;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceFlowProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceOrderProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * Begins and stops the rebalance by order of an operator, and tells how far it is. The last order
 * is a row, so it outlives restarts and changes of the leader; it goes before namenode.yaml.
 * Thread-safe.
 */
public final class RebalanceService {
  private static final Key SETTING = Tables.named("rebalance");

  /** Disks that an answer names. */
  private static final int MOST_FLOWS = 1_000;

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final Rebalancer rebalancer;
  private final RebalanceSettings configured;

  /**
   * @param configured by namenode.yaml: in force until somebody gives an order
   */
  public RebalanceService(
      MetadataStore store,
      DatanodeRegistry cluster,
      Rebalancer rebalancer,
      RebalanceSettings configured)
      throws IOException {
    this.store = store;
    this.cluster = cluster;
    this.rebalancer = rebalancer;
    this.configured = configured;
    rebalancer.set(stored().orElse(configured));
  }

  private Optional<RebalanceSettings> stored() throws IOException {
    Optional<SettingRow> row =
        store.transact(SETTING.partition(), t -> t.get(Tables.SETTING, SETTING));
    return row.map(
        setting -> {
          String[] words = setting.getValue().split(" ");
          return configured.with(
              words[0].equals("on"), Double.parseDouble(words[1]), Long.parseLong(words[2]));
        });
  }

  private void store(RebalanceSettings settings) throws IOException {
    String value =
        (settings.on() ? "on " : "off ") + settings.threshold() + " " + settings.bytesPerSecond();
    store.transact(
        SETTING.partition(),
        t -> {
          t.lock(List.of(RowLock.exclusive(Tables.SETTING, SETTING)));
          t.put(Tables.SETTING, SETTING, SettingRow.newBuilder().setValue(value).build());
          return null;
        });
  }

  RebalanceResponseProto rebalance(RebalanceRequestProto request) throws IOException {
    RebalanceSettings now = rebalancer.settings();
    double threshold = request.hasThreshold() ? request.getThreshold() : now.threshold();
    long speed = request.hasBytesPerSecond() ? request.getBytesPerSecond() : now.bytesPerSecond();
    RebalanceSettings wanted;
    try {
      wanted =
          now.with(
              request.getOrder() == RebalanceOrderProto.REBALANCE_START || now.on(),
              threshold,
              speed);
    } catch (IllegalArgumentException e) {
      return answer(rebalancer.progress(now), now.on()).setRefusal(e.getMessage()).build();
    }
    switch (request.getOrder()) {
      case REBALANCE_START -> order(wanted);
      case REBALANCE_STOP -> order(now.with(false, now.threshold(), now.bytesPerSecond()));
      default -> {}
    }
    boolean isPlan = request.getOrder() == RebalanceOrderProto.REBALANCE_PLAN;
    RebalanceSettings shown = isPlan ? wanted : rebalancer.settings();
    return answer(rebalancer.progress(shown), rebalancer.settings().on()).build();
  }

  private void order(RebalanceSettings settings) throws IOException {
    store(settings);
    rebalancer.set(settings);
  }

  private RebalanceResponseProto.Builder answer(Progress progress, boolean running) {
    RebalanceResponseProto.Builder answer =
        RebalanceResponseProto.newBuilder()
            .setRunning(running)
            .setThreshold(progress.settings().threshold())
            .setBytesPerSecond(progress.settings().bytesPerSecond())
            .setMeanShare(progress.meanShare())
            .setBytesToMove(progress.bytesToMove())
            .setMovedBlocks(progress.movedBlocks())
            .setMovedBytes(progress.movedBytes())
            .setUnderWay(progress.underWay());
    if (progress.bytesToMove() > 0) {
      answer.setSecondsLeft(progress.bytesToMove() / progress.settings().bytesPerSecond());
    }
    progress.flows().stream().limit(MOST_FLOWS).forEach(flow -> answer.addFlows(message(flow)));
    if (running) {
      progress.stuck().ifPresent(answer::setStuck);
    }
    return answer;
  }

  private RebalanceFlowProto message(Flow flow) {
    String uuid = flow.disk().serverUuid();
    return RebalanceFlowProto.newBuilder()
        .setServerUuid(uuid)
        .setServer(cluster.server(uuid).map(server -> server.name()).orElse(uuid))
        .setStorageUuid(flow.disk().storageUuid())
        .setUsedShare(flow.disk().share())
        .setBytes(flow.bytes())
        .build();
  }
}
