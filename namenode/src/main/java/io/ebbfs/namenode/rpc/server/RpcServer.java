package io.ebbfs.namenode.rpc.server;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server for Hadoop's RPC, version 9 with protocol buffers. One event loop for each core reads
 * all connections; a pool runs the calls.
 */
public final class RpcServer implements AutoCloseable {
  private static final int WAITING_CONNECTIONS = 1_024;
  private static final int STOP_SECONDS = 10;

  /** Answers that a connection may keep waiting before it is not read from any more. */
  private static final WriteBufferWaterMark UNTAKEN = new WriteBufferWaterMark(64 << 10, 256 << 10);

  /** A peer that takes no answer for this long is given up. */
  private static final long STUCK_NANOS = TimeUnit.MINUTES.toNanos(10);

  /** The same while there is no memory. */
  private static final long STUCK_WHEN_FULL_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final ServerLimits limits;
  private volatile RpcProtocols protocols;
  private final InFlight inFlight;
  private final CallRunner runner;
  private final EventLoopGroup loops;
  private final Set<RpcConnection> connections = ConcurrentHashMap.newKeySet();
  private final AtomicInteger connected = new AtomicInteger();
  private Channel listener;

  /**
   * Prepares a server.
   *
   * @param handlers threads of the pool
   * @param retries may be shared with servers that the same clients call
   */
  public RpcServer(
      int handlers, ServerLimits limits, RpcProtocols protocols, RetryAnswers retries) {
    this.limits = limits;
    this.protocols = protocols;
    this.inFlight = new InFlight(limits.bytesInFlight());
    this.runner =
        new CallRunner(
            handlers,
            limits.queuedCalls(),
            new DefaultThreadFactory("rpc-handler", true),
            inFlight,
            retries);
    // The other cores are for the sync of the log, for calls that wait, and for work in the
    // background. With a loop per core these threads interrupt the loops while they write.
    int count = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    ThreadFactory threads = new DefaultThreadFactory("rpc-loop", true);
    this.loops =
        Epoll.isAvailable()
            ? new EpollEventLoopGroup(count, threads)
            : new NioEventLoopGroup(count, threads);
  }

  /**
   * Listens and serves.
   *
   * @param port 0 for any free port
   * @throws BindException with the remedy if the port cannot be had
   */
  public void start(String host, int port) throws IOException {
    ChannelFuture bound =
        new ServerBootstrap()
            .group(loops)
            .channel(
                Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, WAITING_CONNECTIONS)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, UNTAKEN)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    accept(channel);
                  }
                })
            .bind(host, port)
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new BindException(
          "cannot listen at %s:%d (%s): another process has the port, or the address is not of this machine; choose others with --host and --port"
              .formatted(host, port, bound.cause().getMessage()));
    }
    listener = bound.channel();
    long period = Math.max(1, limits.idleMillis() / 4);
    loops.next().scheduleWithFixedDelay(this::closeSilent, period, period, TimeUnit.MILLISECONDS);
  }

  private void accept(Channel channel) {
    channel.closeFuture().addListener(closed -> connected.decrementAndGet());
    if (connected.incrementAndGet() > limits.connections()
        || !(channel.remoteAddress() instanceof InetSocketAddress peer)) {
      channel.close();
      return;
    }
    RpcConnection connection = new RpcConnection(this, peer.getAddress());
    connections.add(connection);
    channel.closeFuture().addListener(closed -> connections.remove(connection));
    channel.pipeline().addLast(connection);
  }

  private void closeSilent() {
    long now = System.nanoTime();
    long idle = TimeUnit.MILLISECONDS.toNanos(limits.idleMillis());
    long stuck = inFlight.isFull() ? STUCK_WHEN_FULL_NANOS : STUCK_NANOS;
    boolean tooMany = connections.size() > limits.idleConnections();
    for (RpcConnection connection : connections) {
      long silent = connection.silentNanos(now);
      if (tooMany && silent > idle) {
        connection.closeIfIdle();
      }
      if (silent > stuck) {
        connection.closeIfStuck();
      }
    }
  }

  /** How many there are now. */
  public int connections() {
    return connections.size();
  }

  ServerLimits limits() {
    return limits;
  }

  /** Answers the calls that come from now on in another way; connections stay. */
  public void answerBy(RpcProtocols others) {
    protocols = others;
  }

  RpcProtocols protocols() {
    return protocols;
  }

  InFlight inFlight() {
    return inFlight;
  }

  CallRunner runner() {
    return runner;
  }

  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  /** Ends all connections and calls. */
  @Override
  public void close() throws InterruptedException {
    if (listener != null) {
      listener.close().awaitUninterruptibly();
    }
    runner.close();
    loops.shutdownGracefully(0, STOP_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
  }
}
