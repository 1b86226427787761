package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.hdfs.DFSClient;
import org.apache.hadoop.hdfs.server.namenode.ha.RequestHedgingProxyProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Stock clients with {@link RequestHedgingProxyProvider}, which send their first call to all
 * namenodes at once and take the first answer that is no failure.
 */
@Timeout(120)
class HedgedCallsTest {
  private static final int ROUNDS = 15;

  @TempDir Path directory;

  @Test
  void aFirstCallThatAllNamenodesRunTakesEffectOnce() throws Exception {
    try (LeaderAndFollower both = new LeaderAndFollower(directory)) {
      both.leaderIsKnown(1);
      Configuration conf = new Configuration();
      conf.set("dfs.nameservices", "c");
      conf.set("dfs.ha.namenodes.c", "a,b");
      conf.set("dfs.namenode.rpc-address.c.a", "127.0.0.1:" + both.leaderAddress.getPort());
      conf.set("dfs.namenode.rpc-address.c.b", both.follower().getAuthority());
      conf.set("dfs.client.failover.proxy.provider.c", RequestHedgingProxyProvider.class.getName());
      for (int i = 0; i < ROUNDS; i++) {
        String made = "/made-" + i;
        String moved = "/moved-" + i;
        try (DFSClient client = client(conf)) {
          client.create(made, true).close(); // fails if the other namenode makes the file again
        }
        try (DFSClient client = client(conf)) {
          client.rename(made, moved, Options.Rename.NONE);
        }
        try (DFSClient client = client(conf)) {
          assertThat(client.exists(made)).isFalse();
          assertThat(client.getFileInfo(moved).getLen()).isZero();
        }
        try (DFSClient client = client(conf)) {
          assertThat(client.delete(moved, false)).as("the answer to a delete").isTrue();
        }
      }
      try (DFSClient client = client(conf)) {
        assertThat(client.listPaths("/", new byte[0]).getPartialListing()).isEmpty();
      }
    }
  }

  private static DFSClient client(Configuration conf) throws Exception {
    return new DFSClient(URI.create("hdfs://c"), conf);
  }
}
