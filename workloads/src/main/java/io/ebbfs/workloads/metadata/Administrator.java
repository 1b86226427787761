package io.ebbfs.workloads.metadata;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DFSUtilClient;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.client.BlockReportOptions;
import org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.ipc.RetriableException;
import org.apache.hadoop.security.UserGroupInformation;

/** What an administrator does with stock tools. Not thread-safe. */
final class Administrator implements AutoCloseable {
  private final NamenodeUnderTest namenode;
  private final Configuration configuration = new Configuration();
  private final DistributedFileSystem files = new DistributedFileSystem();

  Administrator(NamenodeUnderTest namenode) throws IOException {
    this.namenode = namenode;
    files.initialize(
        URI.create("hdfs://%s:%d".formatted(namenode.host(), namenode.port())), configuration);
  }

  /** The servers in service; none while the namenode answers that it has not started yet. */
  int liveServers() throws IOException {
    try {
      return files.getDataNodeStats(DatanodeReportType.LIVE).length;
    } catch (RemoteException e) {
      if (e.unwrapRemoteException(RetriableException.class) instanceof RetriableException) {
        return 0;
      }
      throw e;
    }
  }

  /** Checks that the copies of a tree are there. */
  void check(CopiedTree tree) throws IOException {
    new CopiedTreeCheck(files, tree).run();
  }

  /** As 'hdfs dfsadmin -triggerBlockReport' does: the server sends a full report of its blocks. */
  void triggerBlockReport(int server) throws IOException {
    ClientDatanodeProtocol proxy =
        DFSUtilClient.createClientDatanodeProtocolProxy(
            new InetSocketAddress(namenode.host(), namenode.dataServerIpcPort(server)),
            UserGroupInformation.getCurrentUser(),
            configuration,
            org.apache.hadoop.net.NetUtils.getDefaultSocketFactory(configuration));
    try {
      proxy.triggerBlockReport(new BlockReportOptions.Factory().setIncremental(false).build());
    } finally {
      RPC.stopProxy(proxy);
    }
  }

  @Override
  public void close() throws IOException {
    files.close();
  }
}
