package io.ebbfs.namenode.rpc;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.CodingProtocolService;
import io.ebbfs.protocol.rpc.ServiceKey;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.InvalidPathException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.RecoveryInProgressException;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.ClientNamenodeProtocol;
import org.apache.hadoop.hdfs.protocol.proto.DatanodeProtocolProtos.DatanodeProtocolService;
import org.apache.hadoop.hdfs.protocolPB.ClientNamenodeProtocolPB;
import org.apache.hadoop.hdfs.protocolPB.ClientNamenodeProtocolServerSideTranslatorPB;
import org.apache.hadoop.hdfs.protocolPB.DatanodeProtocolPB;
import org.apache.hadoop.hdfs.protocolPB.DatanodeProtocolServerSideTranslatorPB;
import org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException;
import org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.thirdparty.protobuf.BlockingService;

/** Serves the three protocols of the namenode on one port, with Hadoop's RPC server. */
public final class RpcEndpoint implements AutoCloseable {
  private static final int MAX_MESSAGE_BYTES = 128 << 20;

  private final String host;
  private final int port;
  private final int handlers;
  private final Configuration hadoop = new Configuration();
  private RPC.Server server;

  /**
   * Prepares the server; {@link #addClients} binds the port.
   *
   * @param port 0 for any free port
   * @param handlers threads that answer calls
   */
  public RpcEndpoint(String host, int port, int handlers) {
    this(host, port, handlers, Limits.DEFAULT);
  }

  RpcEndpoint(String host, int port, int handlers, Limits limits) {
    this.host = host;
    this.port = port;
    this.handlers = handlers;
    hadoop.setInt("ipc.maximum.data.length", MAX_MESSAGE_BYTES);
    hadoop.setInt("ipc.server.read.threadpool.size", 2);
    hadoop.setBoolean("ipc.server.tcpnodelay", true);
    limits.applyTo(hadoop);
  }

  /**
   * How the server bounds connections. Two threads read all of them, so that a connection costs a
   * descriptor and some kilobytes.
   *
   * @param connections a connection beyond this number is closed at once
   * @param idleConnections beyond this number of connections, those that are silent are closed
   * @param idleMillis how long a connection without a call under way may be silent then. Clients
   *     give an idle connection up after 10 seconds by themselves
   */
  record Limits(int connections, int idleConnections, int idleMillis) {
    static final Limits DEFAULT = new Limits(16_000, 500, 20_000);

    private void applyTo(Configuration hadoop) {
      hadoop.setInt("ipc.server.max.connections", connections);
      hadoop.setInt("ipc.client.idlethreshold", idleConnections);
      // Hadoop's server waits twice as long as this key says.
      hadoop.setInt("ipc.client.connection.maxidletime", idleMillis / 2);
      hadoop.setInt("ipc.client.connection.idle-scan-interval.ms", Math.max(1, idleMillis / 4));
      // How many are closed in one scan.
      hadoop.setInt("ipc.client.kill.max", connections);
    }
  }

  /** Binds the port and adds ClientProtocol. To be called before the other protocols are added. */
  public void addClients(ClientProtocol clients) throws IOException {
    RPC.setProtocolEngine(hadoop, ClientNamenodeProtocolPB.class, ProtobufRpcEngine2.class);
    BlockingService service =
        ClientNamenodeProtocol.newReflectiveBlockingService(
            new ClientNamenodeProtocolServerSideTranslatorPB(clients));
    try {
      server =
          new RPC.Builder(hadoop)
              .setProtocol(ClientNamenodeProtocolPB.class)
              .setInstance(service)
              .setBindAddress(host)
              .setPort(port)
              .setNumHandlers(handlers)
              .setVerbose(false)
              .build();
    } catch (BindException e) {
      throw new BindException(
          "cannot listen at %s:%d (%s): another process has the port, or the address is not of this machine; choose others with --host and --port"
              .formatted(host, port, rootMessage(e)));
    }
    // These exceptions answer a client's mistake, so they are logged without a stack trace.
    server.addTerseExceptions(
        FileNotFoundException.class,
        FileAlreadyExistsException.class,
        PathIsNotEmptyDirectoryException.class,
        ParentNotDirectoryException.class,
        InvalidPathException.class,
        AccessControlException.class,
        LeaseExpiredException.class,
        NotReplicatedYetException.class,
        AlreadyBeingCreatedException.class,
        RecoveryInProgressException.class,
        UnsupportedOperationException.class);
  }

  private static String rootMessage(Throwable thrown) {
    Throwable cause = thrown;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause.getMessage();
  }

  public void addDatanodes(DatanodeProtocol datanodes) throws IOException {
    add(
        DatanodeProtocolPB.class,
        DatanodeProtocolService.newReflectiveBlockingService(
            new DatanodeProtocolServerSideTranslatorPB(datanodes, MAX_MESSAGE_BYTES)));
  }

  /** Adds CodingProtocol, for callers that prove that they know the key. */
  public void addCoding(CodingProtocolService.BlockingInterface coding, ServiceKey key)
      throws IOException {
    add(
        CodingProtocol.class,
        CodingProtocolService.newReflectiveBlockingService(
            ServicesOnly.guard(
                CodingProtocolService.BlockingInterface.class, coding, CodingProtocol.NAME, key)));
  }

  private void add(Class<?> protocol, BlockingService service) throws IOException {
    RPC.setProtocolEngine(hadoop, protocol, ProtobufRpcEngine2.class);
    server.addProtocol(RPC.RpcKind.RPC_PROTOCOL_BUFFER, protocol, service);
  }

  public void start() {
    server.start();
  }

  public InetSocketAddress address() {
    return server.getListenerAddress();
  }

  @Override
  public void close() {
    if (server != null) {
      server.stop();
    }
  }
}
