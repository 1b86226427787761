package io.ebbfs.testbed.cluster;

import io.ebbfs.protocol.proto.ChunkProtos.ChunkStatusResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StorageStatusProto;
import io.ebbfs.protocol.rpc.ChunkServerClient;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.testbed.process.Ports;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ProcessNames;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Writes the state of a cluster as two tables and a summary. */
public final class StatusReport {
  private static final String PROCESS_ROW = "%-12s %8s %9s  %-8s %s%n";
  private static final String SERVER_ROW = "%-12s %-14s %-6s %6s %8s %10s %10s  %s%n";

  private final LocalCluster cluster;
  private final ClusterLayout layout;
  private final Map<String, ProcessId> running;
  private final StringBuilder out = new StringBuilder();

  public StatusReport(LocalCluster cluster) {
    this.cluster = cluster;
    this.layout = cluster.layout();
    this.running = cluster.running();
  }

  /** The text for a terminal. */
  public String text() {
    processes();
    if (running.keySet().stream().anyMatch(ProcessNames::isNamenode)) {
      namenodeView();
    }
    return out.toString();
  }

  private void processes() {
    Ports ports = layout.ports();
    out.append("cluster in %s%n%n".formatted(cluster.directory()));
    out.append(PROCESS_ROW.formatted("PROCESS", "PID", "RSS", "STATE", "PORTS"));
    process(ProcessNames.NAMENODE, "rpc " + ports.namenode());
    for (int i = 0; i < ports.more().size(); i++) {
      process(ProcessNames.namenode(i + 1), "rpc " + ports.more().get(i));
    }
    for (int i = 0; i < ports.store().size(); i++) {
      int found = ports.store().get(i);
      process(
          ProcessNames.store(i),
          "found %d, transfer %d, http %d".formatted(found, found + 1, ports.storeHttp(i)));
    }
    process(ProcessNames.KAFKA, "kafka " + ports.kafka());
    process(ProcessNames.CONTROL, "http " + ports.http());
    if (layout.hasWebHdfs()) {
      process(ProcessNames.HTTPFS, "WebHDFS " + ports.webHdfs());
    }
    for (int i = 0; i < layout.servers(); i++) {
      process(
          ProcessNames.server(i),
          "transfer %d, ipc %d".formatted(ports.transfer().get(i), ports.ipc().get(i)));
    }
    long total = running.values().stream().mapToLong(ProcessId::residentBytes).sum();
    out.append(
        "%n%d of %d processes run, %s resident%n"
            .formatted(running.size(), layout.servers() + layout.fixedProcesses(), bytes(total)));
  }

  private void process(String name, String ports) {
    ProcessId process = running.get(name);
    boolean died = process == null && layout.processes().containsKey(name);
    out.append(
        PROCESS_ROW.formatted(
            name,
            process == null ? "-" : process.pid(),
            process == null ? "-" : bytes(process.residentBytes()),
            process != null ? "running" : died ? "died" : "stopped",
            ports));
  }

  private void namenodeView() {
    try (NamenodeClient namenode = cluster.namenodeClient()) {
      GetClusterResponseProto view = namenode.cluster();
      out.append("%nas the namenode sees it:%n".formatted());
      out.append(
          SERVER_ROW.formatted(
              "SERVER", "RACK", "STATE", "DISKS", "BLOCKS", "USED", "FREE", "FAILED"));
      for (int i = 0; i < layout.servers(); i++) {
        server(i, view);
      }
      summary(view);
    } catch (IOException e) {
      out.append("%nthe namenode does not answer: %s%n".formatted(e.getMessage()));
    }
  }

  private void server(int index, GetClusterResponseProto view) {
    int port = layout.ports().transfer().get(index);
    for (ServerStatusProto server : view.getServersList()) {
      if (server.getServer().getXferPort() == port) {
        serverRow(index, server);
        return;
      }
    }
    out.append(
        SERVER_ROW.formatted(ProcessNames.server(index), "-", "new", "-", "-", "-", "-", ""));
  }

  private void serverRow(int index, ServerStatusProto server) {
    List<StorageStatusProto> disks = server.getStoragesList();
    List<String> failed = new ArrayList<>();
    for (StorageStatusProto disk : disks) {
      if (disk.getFailed()) {
        failed.add(disk.getStorageUuid());
      }
    }
    out.append(
        SERVER_ROW.formatted(
            ProcessNames.server(index),
            server.getRack(),
            server.getLive() ? "live" : "dead",
            disks.size(),
            disks.stream().mapToLong(StorageStatusProto::getBlocks).sum(),
            bytes(disks.stream().mapToLong(StorageStatusProto::getUsedBytes).sum()),
            bytes(disks.stream().mapToLong(StorageStatusProto::getRemainingBytes).sum()),
            String.join(" ", failed)));
  }

  private void summary(GetClusterResponseProto view) {
    double overhead =
        view.getLogicalBytes() == 0 ? 0 : (double) view.getStoredBytes() / view.getLogicalBytes();
    out.append(
        String.format(
            Locale.ROOT,
            "%n%d files, %s, stored as %s (%.2f times); %d blocks under-replicated, %d missing,"
                + " %d stripes beyond repair%s%n",
            view.getFiles(),
            bytes(view.getLogicalBytes()),
            bytes(view.getStoredBytes()),
            overhead,
            view.getUnderReplicatedBlocks(),
            view.getMissingBlocks(),
            view.getUnrecoverableStripes(),
            view.getSafeMode() ? "; in safe mode" : ""));
    capacity(view);
    placement(view);
    unfinished(view);
    long now = System.currentTimeMillis();
    out.append(ScrubReport.blocks(askServers(), now));
    out.append(ScrubReport.stripes(view, now));
  }

  /** The same sums as {@code hdfs dfs -df} and the dashboard: over the disks of live servers. */
  private void capacity(GetClusterResponseProto view) {
    List<StorageStatusProto> disks =
        view.getServersList().stream()
            .filter(ServerStatusProto::getLive)
            .flatMap(server -> server.getStoragesList().stream())
            .toList();
    out.append(
        "capacity %s, %s free%n"
            .formatted(
                bytes(disks.stream().mapToLong(StorageStatusProto::getCapacityBytes).sum()),
                bytes(disks.stream().mapToLong(StorageStatusProto::getRemainingBytes).sum())));
  }

  private void placement(GetClusterResponseProto view) {
    long violations = exactly(view, "placementViolations");
    if (violations > 0) {
      out.append(
          "placement violations: %d in %d stripes, %d stripes are being re-placed%n"
              .formatted(
                  violations,
                  exactly(view, "placementViolations.stripes"),
                  exactly(view, "placementViolations.beingMended")));
    }
  }

  private static long exactly(GetClusterResponseProto view, String name) {
    return view.getCountersList().stream()
        .filter(c -> c.getName().equals(name))
        .mapToLong(c -> c.getValue())
        .sum();
  }

  /** The transitions that failed for good, since the namespace was made. */
  private void unfinished(GetClusterResponseProto view) {
    long space = counted(view, "transitions.", ".NO_SPACE");
    long domains = counted(view, "transitions.", ".NO_DOMAINS");
    long wrong = counted(view, "verificationsFailed.", "");
    if (space + domains + wrong > 0) {
      out.append(
          ("%d transitions ended without enough space, %d without enough failure domains; %d"
                  + " attempts failed their checks: /api/v1/transitions says what is missing%n")
              .formatted(space, domains, wrong));
    }
  }

  private static long counted(GetClusterResponseProto view, String prefix, String suffix) {
    return view.getCountersList().stream()
        .filter(c -> c.getName().startsWith(prefix) && c.getName().endsWith(suffix))
        .mapToLong(c -> c.getValue())
        .sum();
  }

  /** The status of each running server that answers. */
  private List<ChunkStatusResponseProto> askServers() {
    List<ChunkStatusResponseProto> answers = new ArrayList<>();
    for (int i = 0; i < layout.servers(); i++) {
      if (running.containsKey(ProcessNames.server(i))) {
        try (ChunkServerClient server = cluster.chunkServerClient(i)) {
          answers.add(server.status());
        } catch (IOException e) {
          out.append("%s does not answer: %s%n".formatted(ProcessNames.server(i), e.getMessage()));
        }
      }
    }
    return answers;
  }

  static String bytes(long bytes) {
    String[] units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = bytes;
    int unit = 0;
    while (value >= 1024 && unit < units.length - 1) {
      value /= 1024;
      unit++;
    }
    return unit == 0 ? bytes + " B" : String.format(Locale.ROOT, "%.1f %s", value, units[unit]);
  }
}
