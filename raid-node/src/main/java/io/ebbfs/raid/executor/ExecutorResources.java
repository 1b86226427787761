package io.ebbfs.raid.executor;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.rpc.NamenodeAddresses;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.raid.channel.ChunkChannel;
import io.ebbfs.raid.channel.RpcChunkChannel;
import io.ebbfs.raid.config.RaidConfig;
import java.io.IOException;

/**
 * The connections and limits that all transitions of one process share. Thread-safe.
 *
 * @param combines limits the combines that run at once
 * @param bytes limits the bytes that combines and scrub move in a second
 * @param threads for calls that run in parallel
 * @param connections are closed with these resources
 */
public record ExecutorResources(
    CodingProtocol coding,
    ChunkChannel chunks,
    CombineLimiter combines,
    Throttle bytes,
    ParallelCalls threads,
    AutoCloseable connections)
    implements AutoCloseable {
  private static final RpcSettings NAMENODE_RPC =
      RpcSettings.tryOnce(60_000).withConnectTimeout(10_000);

  /** The limits of a configuration, over connections that exist. */
  public static ExecutorResources of(
      RaidConfig config, CodingProtocol coding, ChunkChannel chunks, AutoCloseable connections) {
    return new ExecutorResources(
        coding,
        chunks,
        new CombineLimiter(config.combines(), config.combinesPerServer()),
        new Throttle(config.bytesPerSecond(), System::nanoTime, Thread::sleep),
        ParallelCalls.inThreads("raid-ask"),
        connections);
  }

  /** The same over connections of Hadoop RPC, which are made with their first calls. */
  public static ExecutorResources connect(
      RaidConfig config, NamenodeAddresses namenodes, ServiceKey key) throws IOException {
    NamenodeClient client = new NamenodeClient(namenodes, NAMENODE_RPC, key);
    RpcChunkChannel chunks = new RpcChunkChannel(config.combineTimeoutMillis(), key);
    return of(
        config,
        client.coding(),
        chunks,
        () -> {
          chunks.close();
          client.close();
        });
  }

  /** Runs transitions that a worker has claimed. */
  TransitionExecutor executor(String worker) {
    return new TransitionExecutor(worker, coding, chunks, bytes, combines, threads, Thread::sleep);
  }

  @Override
  public void close() throws IOException {
    threads.close();
    try {
      connections.close();
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException("closing the connections of an executor", e);
    }
  }
}
