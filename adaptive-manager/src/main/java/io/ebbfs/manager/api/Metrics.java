package io.ebbfs.manager.api;

import io.ebbfs.manager.bound.PolicyAccount;
import io.ebbfs.manager.health.Health;
import io.ebbfs.manager.heat.ReadCounter;
import io.ebbfs.manager.schedule.Evaluator;
import io.ebbfs.manager.schedule.StateCounts;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Writes the metrics in the text format of Prometheus, version 0.0.4. */
final class Metrics {
  private final ManagerState manager;
  private final StringBuilder out = new StringBuilder();

  Metrics(ManagerState manager) {
    this.manager = manager;
  }

  String text() {
    GetClusterResponseProto cluster = manager.cluster();
    if (cluster != null) {
      cluster(cluster);
    }
    ReadCounter.Status opens = manager.opens();
    family("ebbfs_open_events_total", "counter", "Open events counted");
    line("ebbfs_open_events_total", "", opens.events());
    family("ebbfs_open_events_malformed_total", "counter", "Open events skipped as malformed");
    line("ebbfs_open_events_malformed_total", "", opens.malformed());
    family(
        "ebbfs_open_events_lag",
        "gauge",
        "Open events in Kafka that are not counted yet; -1 if unknown");
    line("ebbfs_open_events_lag", "", opens.lag());
    family("ebbfs_kafka_connected", "gauge", "1 if the consumer reaches Kafka");
    line("ebbfs_kafka_connected", "", opens.connected() ? 1 : 0);
    Evaluator.Result last = manager.evaluator().last();
    if (last != null) {
      evaluation(last);
    }
    Health.Report report = manager.health();
    family(
        "ebbfs_scrub_ended_seconds",
        "gauge",
        "Time at which the last whole parity scrub ended, in seconds since 1970; 0 for never");
    line("ebbfs_scrub_ended_seconds", "", report.scrub().endedMillis() / 1_000.0);
    family(
        "ebbfs_scrub_suspect_stripes",
        "gauge",
        "Stripes whose data is in doubt after a parity scrub");
    line("ebbfs_scrub_suspect_stripes", "", report.scrub().suspectStripes());
    family("ebbfs_health", "gauge", "Health messages by level");
    for (Health.Level level : Health.Level.values()) {
      long count = report.messages().stream().filter(m -> m.level() == level).count();
      line("ebbfs_health", label("level", level.name().toLowerCase(Locale.ROOT)), count);
    }
    return out.toString();
  }

  private void cluster(GetClusterResponseProto cluster) {
    family("ebbfs_files", "gauge", "Files");
    line("ebbfs_files", "", cluster.getFiles());
    family("ebbfs_logical_bytes", "gauge", "Bytes of all files");
    line("ebbfs_logical_bytes", "", cluster.getLogicalBytes());
    family("ebbfs_stored_bytes", "gauge", "Bytes stored: replicas, encoded data and parities");
    line("ebbfs_stored_bytes", "", cluster.getStoredBytes());
    family("ebbfs_under_replicated_blocks", "gauge", "Blocks with too few replicas");
    line("ebbfs_under_replicated_blocks", "", cluster.getUnderReplicatedBlocks());
    family("ebbfs_missing_blocks", "gauge", "Replicated blocks without a live replica");
    line("ebbfs_missing_blocks", "", cluster.getMissingBlocks());
    family("ebbfs_orphan_replicas", "gauge", "Replicas of blocks that the metadata does not know");
    line("ebbfs_orphan_replicas", "", cluster.getOrphanReplicas());
    family("ebbfs_orphan_bytes", "gauge", "Bytes of these replicas");
    line("ebbfs_orphan_bytes", "", cluster.getOrphanBytes());
    family("ebbfs_lost_disks_to_walk", "gauge", "Lost disks whose blocks are still to be examined");
    line("ebbfs_lost_disks_to_walk", "", cluster.getLostDisksToWalk());
    family("ebbfs_lost_disk_blocks_examined", "gauge", "Blocks of these disks that were examined");
    line("ebbfs_lost_disk_blocks_examined", "", cluster.getLostDiskBlocksExamined());
    family("ebbfs_unrecoverable_stripes", "gauge", "Stripes that do not decode");
    line("ebbfs_unrecoverable_stripes", "", cluster.getUnrecoverableStripes());
    family(
        "ebbfs_stripes_at_risk", "gauge", "Stripes that lost blocks, by the number of lost blocks");
    for (int i = 0; i < cluster.getStripesByLossCount(); i++) {
      line(
          "ebbfs_stripes_at_risk",
          label("lost", String.valueOf(i + 1)),
          cluster.getStripesByLoss(i));
    }
    family("ebbfs_servers", "gauge", "Chunk servers by liveness");
    long live = cluster.getServersList().stream().filter(s -> s.getLive()).count();
    line("ebbfs_servers", label("state", "live"), live);
    long drained =
        cluster.getServersList().stream()
            .filter(s -> !s.getLive() && (s.getDrain().getDrained() || s.hasHibernation()))
            .count();
    line("ebbfs_servers", label("state", "dead"), cluster.getServersCount() - live - drained);
    family("ebbfs_namenode_counter_total", "counter", "Counters of the namenode by name");
    for (Map.Entry<String, Long> entry : ClusterAnswers.counters(cluster).entrySet()) {
      line("ebbfs_namenode_counter_total", label("name", entry.getKey()), entry.getValue());
    }
  }

  private void evaluation(Evaluator.Result last) {
    family("ebbfs_policy_overhead", "gauge", "Stored bytes per logical byte of the encoded data");
    for (PolicyAccount account : last.evaluation().accounts()) {
      line("ebbfs_policy_overhead", label("policy", account.policy()), account.encodedOverhead());
    }
    family(
        "ebbfs_policy_total_overhead",
        "gauge",
        "Stored bytes per logical byte of all data, replicas included");
    for (PolicyAccount account : last.evaluation().accounts()) {
      line(
          "ebbfs_policy_total_overhead",
          label("policy", account.policy()),
          account.totalOverhead());
    }
    family("ebbfs_policy_bound", "gauge", "The bound on ebbfs_policy_overhead");
    for (PolicyAccount account : last.evaluation().accounts()) {
      if (account.bound().isPresent()) {
        line(
            "ebbfs_policy_bound", label("policy", account.policy()), account.bound().getAsDouble());
      }
    }
    packing(last.evaluation().accounts());
    family("ebbfs_files_by_state", "gauge", "Files by state and temperature");
    for (StateCounts.Count count : last.states()) {
      line(
          "ebbfs_files_by_state",
          "{state=\""
              + count.state().name().toLowerCase(Locale.ROOT)
              + "\",temperature=\""
              + (count.hot() ? "hot" : "cold")
              + "\"}",
          count.files());
    }
    family("ebbfs_evaluation_seconds", "gauge", "Duration of the last evaluation");
    line("ebbfs_evaluation_seconds", "", last.tookMillis() / 1_000.0);
  }

  /** The causes add up to all bytes of stripes that are not live: deleted data and parities. */
  private void packing(List<PolicyAccount> accounts) {
    family(
        "ebbfs_packing_bytes",
        "gauge",
        "Bytes that stripes store in addition to live data, by cause");
    for (PolicyAccount account : accounts) {
      account
          .packing()
          .forEach(
              (code, cost) -> {
                packing(account.policy(), code, "own", cost.ownBytes());
                packing(account.policy(), code, "padding", cost.paddingBytes());
                packing(account.policy(), code, "unfilled", cost.unfilledBytes());
                packing(account.policy(), code, "dead", cost.deadBytes());
              });
    }
  }

  private void packing(String policy, String code, String cause, long bytes) {
    String labels = pair("policy", policy) + "," + pair("code", code) + "," + pair("cause", cause);
    line("ebbfs_packing_bytes", "{" + labels + "}", bytes);
  }

  private void family(String name, String type, String help) {
    out.append("# HELP ").append(name).append(' ').append(help).append('\n');
    out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private void line(String name, String labels, double value) {
    String text =
        value == Math.rint(value) && Math.abs(value) < 1e15
            ? Long.toString((long) value)
            : Double.toString(value);
    out.append(name).append(labels).append(' ').append(text).append('\n');
  }

  private static String label(String name, String value) {
    return "{" + pair(name, value) + "}";
  }

  private static String pair(String name, String value) {
    String escaped = value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    return name + "=\"" + escaped + "\"";
  }
}
