package io.ebbfs.namenode.rpc.server;

/**
 * How an RPC server bounds what callers may take.
 *
 * @param connections a connection beyond this number is closed at once
 * @param idleConnections beyond this number of connections, those that are silent are closed
 * @param idleMillis how long a connection without a call under way may be silent then. Clients give
 *     an idle connection up after 10 seconds by themselves
 * @param frameBytes a connection that announces a longer frame is closed
 * @param callsPerConnection a connection with this number of unanswered calls is not read
 * @param queuedCalls calls that wait for a handler; further calls are refused, to be repeated
 * @param bytesInFlight requests and answers of all connections together; beyond it, calls are
 *     refused, and connections that neither take answers nor complete a large frame are closed
 */
public record ServerLimits(
    int connections,
    int idleConnections,
    int idleMillis,
    int frameBytes,
    int callsPerConnection,
    int queuedCalls,
    long bytesInFlight) {
  private static final int MAX_FRAME_BYTES = 128 << 20;

  /** One call of each connection always finds a place in the queue. */
  public static final ServerLimits DEFAULT =
      new ServerLimits(
          16_000,
          500,
          20_000,
          MAX_FRAME_BYTES,
          1_000,
          16_000,
          Math.max(MAX_FRAME_BYTES, Runtime.getRuntime().maxMemory() / 4));

  public ServerLimits withConnections(int most, int idle, int silentMillis) {
    return new ServerLimits(
        most, idle, silentMillis, frameBytes, callsPerConnection, queuedCalls, bytesInFlight);
  }

  public ServerLimits withCalls(int perConnection, int queued) {
    return new ServerLimits(
        connections, idleConnections, idleMillis, frameBytes, perConnection, queued, bytesInFlight);
  }

  public ServerLimits withBytes(int frame, long inFlight) {
    return new ServerLimits(
        connections, idleConnections, idleMillis, frame, callsPerConnection, queuedCalls, inFlight);
  }
}
