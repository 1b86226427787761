package io.ebbfs.namenode;

import io.ebbfs.common.http.PrometheusText;
import io.ebbfs.common.http.StatusServer;
import io.ebbfs.namenode.datanodes.ClusterView;
import java.util.Optional;

/**
 * What a namenode says to supervisors and to Prometheus. Thread-safe.
 *
 * @param cluster the chunk servers
 */
record NamenodeStatus(ClusterView cluster) implements StatusServer.State {
  @Override
  public Optional<String> notReady() {
    return cluster.inSafeMode() ? Optional.of("in safe mode") : Optional.empty();
  }

  @Override
  public String metrics() {
    PrometheusText text = new PrometheusText();
    text.gauge("ebbfs_namenode_safe_mode", "1 in safe mode, else 0", cluster.inSafeMode() ? 1 : 0);
    int live = cluster.liveServers().size();
    text.family("ebbfs_namenode_chunk_servers", "gauge", "Chunk servers by liveness");
    text.line("ebbfs_namenode_chunk_servers", "state", "live", live);
    text.line("ebbfs_namenode_chunk_servers", "state", "dead", cluster.allServers().size() - live);
    return text.withProcess().toString();
  }
}
