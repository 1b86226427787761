package io.ebbfs.protocol.rpc;

import org.apache.hadoop.conf.Configuration;

/**
 * Time-outs and retries of an RPC client. Every caller names its own. Immutable.
 *
 * @param callTimeoutMillis for one call; a call without an answer fails then. 0 for none
 * @param connectTimeoutMillis for one attempt to connect
 * @param retriesWhenRefused further attempts, a second apart, when the server refuses a connection
 * @param retriesWhenSilent further attempts when a connection times out
 * @param idleMillis after which an unused connection is closed
 */
public record RpcSettings(
    int callTimeoutMillis,
    int connectTimeoutMillis,
    int retriesWhenRefused,
    int retriesWhenSilent,
    int idleMillis) {
  private static final int CONNECT_TIMEOUT_MILLIS = 20_000;
  private static final int IDLE_MILLIS = 10_000;
  private static final int MAX_MESSAGE_BYTES = 128 << 20;

  /** One attempt to connect, then one answer within the time-out, or an error. */
  public static RpcSettings tryOnce(long callTimeoutMillis) {
    return new RpcSettings(
        Math.toIntExact(callTimeoutMillis), CONNECT_TIMEOUT_MILLIS, 0, 0, IDLE_MILLIS);
  }

  /** The same with another time-out for each attempt to connect. */
  public RpcSettings withConnectTimeout(int millis) {
    return new RpcSettings(
        callTimeoutMillis, millis, retriesWhenRefused, retriesWhenSilent, idleMillis);
  }

  /** The same with further attempts to connect. */
  public RpcSettings withConnectRetries(int whenRefused, int whenSilent) {
    return new RpcSettings(
        callTimeoutMillis, connectTimeoutMillis, whenRefused, whenSilent, idleMillis);
  }

  /** The same with connections that are closed after another time without a call. */
  public RpcSettings withIdle(int millis) {
    return new RpcSettings(
        callTimeoutMillis, connectTimeoutMillis, retriesWhenRefused, retriesWhenSilent, millis);
  }

  Configuration configuration() {
    Configuration conf = new Configuration(false);
    conf.setInt("ipc.client.rpc-timeout.ms", callTimeoutMillis);
    conf.setInt("ipc.client.connect.timeout", connectTimeoutMillis);
    conf.setInt("ipc.client.connect.max.retries", retriesWhenRefused);
    conf.setInt("ipc.client.connect.max.retries.on.timeouts", retriesWhenSilent);
    conf.setInt("ipc.client.connection.maxidletime", idleMillis);
    conf.setInt("ipc.maximum.data.length", MAX_MESSAGE_BYTES);
    conf.setInt("ipc.maximum.response.length", MAX_MESSAGE_BYTES);
    return conf;
  }
}
