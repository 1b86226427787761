package io.ebbfs.ignite;

import io.ebbfs.namenode.SharedNamenode;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;

/** HDFS's configuration of several NameNodes, for stock clients and DataNodes. */
final class HaConfiguration {
  /** The name service of all namenodes. */
  static final String URI = "hdfs://ebbfs";

  private HaConfiguration() {}

  static Configuration of(List<SharedNamenode> namenodes) {
    Configuration conf = new Configuration();
    List<String> names = new ArrayList<>();
    for (SharedNamenode namenode : namenodes) {
      String name = "nn" + names.size();
      names.add(name);
      conf.set("dfs.namenode.rpc-address.ebbfs." + name, address(namenode));
    }
    conf.set("dfs.nameservices", "ebbfs");
    conf.set("dfs.ha.namenodes.ebbfs", String.join(",", names));
    conf.set(
        "dfs.client.failover.proxy.provider.ebbfs",
        "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider");
    conf.setInt("dfs.client.failover.sleep.base.millis", 100);
    conf.setInt("dfs.client.failover.sleep.max.millis", 1_000);
    conf.setInt("dfs.client.failover.max.attempts", 60);
    return conf;
  }

  static String address(SharedNamenode namenode) {
    return "127.0.0.1:" + namenode.address().getPort();
  }
}
