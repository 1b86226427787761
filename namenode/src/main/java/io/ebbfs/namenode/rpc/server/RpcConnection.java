package io.ebbfs.namenode.rpc.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.ipc.RpcServerException;
import org.apache.hadoop.thirdparty.protobuf.CodedInputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection: cuts what arrives into frames, starts their calls, and sends the answers in the
 * order in which they are ready. Any thread may call the methods that are marked as thread-safe;
 * the event loop of the connection calls all other methods.
 */
final class RpcConnection extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(RpcConnection.class);
  private static final int LENGTH_BYTES = 4;

  /** Then it is another connection's turn. */
  private static final int FRAMES_PER_TURN = 64;

  private static final int LAST_READ_SECONDS = 10;

  /** A frame that has come up to here is only accepted while there is memory. */
  private static final int LARGE_BYTES = 64 << 10;

  private record Answer(RpcCall call, byte[] frame) {}

  private final RpcServer server;
  private final Handshake handshake;
  private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean sending = new AtomicBoolean();
  private ChannelHandlerContext context;
  private ByteBuf unread = Unpooled.EMPTY_BUFFER;
  private boolean greeted;
  private boolean closing;
  private boolean reading;
  private boolean authorizing;
  private int calls;
  private long callBytes;
  private long heldBytes;
  private Future<?> end;
  private volatile long activeNanos = System.nanoTime();

  RpcConnection(RpcServer server, InetAddress peer) {
    this.server = server;
    this.handshake = new Handshake(peer);
  }

  // ---- events of the channel

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  @Override
  public void channelRead(ChannelHandlerContext ignored, Object message) {
    if (closing) {
      ReferenceCountUtil.release(message);
      return;
    }
    activeNanos = System.nanoTime();
    reading = true;
    unread =
        ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(context.alloc(), unread, (ByteBuf) message);
    readFrames();
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ignored) {
    reading = false;
    context.flush();
    noteHeldBytes();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ignored) {
    activeNanos = System.nanoTime();
    if (!reading) {
      readOn();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ignored) {
    closing = true;
    forgetUnread();
    noteHeldBytes();
    if (end != null) {
      end.cancel(false);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ignored, Throwable cause) {
    if (cause instanceof IOException) {
      LOG.debug("connection {} is lost: {}", context.channel(), cause.toString());
    } else {
      LOG.warn("connection {} is closed", context.channel(), cause);
    }
    context.close();
  }

  // ---- reading

  private void readOn() {
    try {
      reading = true;
      readFrames();
      reading = false;
      context.flush();
      noteHeldBytes();
    } catch (Throwable e) {
      broken(e);
    }
  }

  /** A client whose call has no answer must learn it, so it loses its connection. */
  private void broken(Throwable why) {
    reading = false;
    LOG.warn("connection {} is closed", context.channel(), why);
    context.close();
  }

  private void readFrames() {
    int left = FRAMES_PER_TURN;
    while (left > 0 && mayRead() && readOne()) {
      left--;
    }
    if (left == 0) {
      context.channel().eventLoop().execute(this::readOn);
    }
    if (unread.isReadable()) {
      unread.discardSomeReadBytes();
    } else {
      forgetUnread();
    }
    context.channel().config().setAutoRead(closing || left > 0 && mayRead());
  }

  /** Whoever does not take answers, or has too many calls under way, is not read from. */
  private boolean mayRead() {
    return !closing
        && !authorizing
        && context.channel().isWritable()
        && calls < server.limits().callsPerConnection();
  }

  private boolean readOne() {
    try {
      return greeted ? readFrame() : readPreamble();
    } catch (FatalCallException e) {
      refuse(e);
      return false;
    }
  }

  private void refuse(FatalCallException why) {
    LOG.info("connection {} is closed: {}", context.channel(), why.getMessage());
    closeAfter(AnswerFrame.fatal(why));
  }

  private boolean readPreamble() {
    if (unread.readableBytes() < Preamble.BYTES) {
      return false;
    }
    Preamble.Reading preamble = Preamble.read(unread);
    if (preamble.refusal() != null) {
      LOG.info("connection {} does not speak RPC as this server does", context.channel());
      closeAfter(preamble.refusal());
      return false;
    }
    handshake.begin(preamble.sasl());
    greeted = true;
    return true;
  }

  private boolean readFrame() throws FatalCallException {
    if (unread.readableBytes() < LENGTH_BYTES) {
      return false;
    }
    int length = unread.getInt(unread.readerIndex());
    if (length < 0 || length > server.limits().frameBytes()) {
      throw FatalCallException.unreadable(
          "a frame of %d bytes is refused: the longest is %d bytes"
              .formatted(length, server.limits().frameBytes()));
    }
    if (unread.readableBytes() < LENGTH_BYTES + length) {
      if (unread.readableBytes() > LARGE_BYTES) {
        noteHeldBytes();
        if (server.inFlight().isFull()) {
          throw FatalCallException.overloaded(
              "the server has no memory for a frame of %d bytes now; send it again in a moment"
                  .formatted(length));
        }
      }
      return false;
    }
    byte[] frame = new byte[length];
    unread.skipBytes(LENGTH_BYTES).readBytes(frame);
    accept(frame);
    return true;
  }

  private void accept(byte[] frame) throws FatalCallException {
    CodedInputStream in = CodedInputStream.newInstance(frame);
    RequestHeader header = RequestHeader.read(in);
    if (header.callId() < 0) {
      byte[] answer = handshake.accept(header, in);
      if (answer != null) {
        write(answer);
      }
      if (handshake.needsAuthorization()) {
        authorizing = true;
        server.runner().execute(this::authorize);
      }
    } else {
      call(header, in, frame);
    }
  }

  /** Runs on the pool, because the groups of a user may take long. Nothing is read meanwhile. */
  private void authorize() {
    EventLoop loop = context.channel().eventLoop();
    try {
      handshake.authorize();
      loop.execute(this::authorized);
    } catch (FatalCallException e) {
      loop.execute(() -> unauthorized(e));
    } catch (Throwable e) {
      loop.execute(() -> broken(e));
    }
  }

  private void authorized() {
    authorizing = false;
    readOn();
  }

  private void unauthorized(FatalCallException why) {
    if (!closing) {
      refuse(why);
    }
  }

  private void call(RequestHeader header, CodedInputStream in, byte[] frame)
      throws FatalCallException {
    CurrentCall caller = handshake.caller(header.callId()).with(header.context());
    try {
      RpcMethod method = server.protocols().find(in, frame);
      int length = in.readRawVarint32();
      int offset = in.getTotalBytesRead();
      if (length < 0 || length > frame.length - offset) {
        throw new RpcServerException(
            "a request of %d bytes in a frame of %d bytes is cut".formatted(length, frame.length));
      }
      RpcCall call = new RpcCall(this, caller, header, method, frame, offset, length);
      calls++;
      callBytes += call.heldBytes();
      server.runner().accept(call);
    } catch (IOException e) {
      write(AnswerFrame.error(header, e));
    }
  }

  /** Runs tasks after the event loop has read all that has come on its connections. Thread-safe. */
  Executor turnEnd() {
    return context.channel().eventLoop();
  }

  // ---- writing

  /** Sends the answer of a call. Thread-safe. */
  void answer(RpcCall call, byte[] frame) {
    EventLoop loop = context.channel().eventLoop();
    if (loop.inEventLoop() && reading) {
      write(call, frame);
      return;
    }
    answers.add(new Answer(call, frame));
    if (sending.compareAndSet(false, true)) {
      try {
        loop.execute(this::sendAnswers);
      } catch (RejectedExecutionException e) {
        LOG.debug("an answer comes after the end of the server");
      }
    }
  }

  /** Sends all answers that are ready at once. */
  private void sendAnswers() {
    sending.set(false);
    try {
      for (Answer next = answers.poll(); next != null; next = answers.poll()) {
        write(next.call(), next.frame());
      }
    } catch (Throwable e) {
      broken(e);
    }
    readOn();
  }

  private void write(RpcCall call, byte[] frame) {
    calls--;
    callBytes -= call.heldBytes();
    write(frame);
  }

  private void write(byte[] frame) {
    if (!closing) {
      ByteBuf bytes = context.alloc().ioBuffer(frame.length).writeBytes(frame);
      context.write(bytes, context.voidPromise());
    }
  }

  /**
   * Sends a last frame, and reads on for a moment without looking: if a socket is closed before all
   * that came was read, its peer may never see what was sent last.
   */
  private void closeAfter(byte[] last) {
    closing = true;
    forgetUnread();
    SocketChannel channel = (SocketChannel) context.channel();
    context
        .writeAndFlush(Unpooled.wrappedBuffer(last))
        .addListener(sent -> channel.shutdownOutput());
    end = channel.eventLoop().schedule(() -> context.close(), LAST_READ_SECONDS, TimeUnit.SECONDS);
  }

  private void forgetUnread() {
    unread.release();
    unread = Unpooled.EMPTY_BUFFER;
  }

  // ---- limits

  /**
   * Tells the server how many bytes this connection makes it hold. Calls under way are held also
   * when their connection is closed.
   */
  private void noteHeldBytes() {
    long held = callBytes + (closing ? 0 : unread.readableBytes() + untakenBytes());
    if (held != heldBytes) {
      server.inFlight().add(held - heldBytes);
      heldBytes = held;
    }
  }

  private long untakenBytes() {
    ChannelOutboundBuffer untaken = context.channel().unsafe().outboundBuffer();
    return untaken == null ? 0 : untaken.totalPendingWriteBytes();
  }

  /** How long nothing came, and no answer was taken. Thread-safe. */
  long silentNanos(long now) {
    return now - activeNanos;
  }

  /** Closes the connection unless a call of it is under way. Thread-safe. */
  void closeIfIdle() {
    context
        .channel()
        .eventLoop()
        .execute(
            () -> {
              if (calls == 0) {
                context.close();
              }
            });
  }

  /**
   * Closes the connection if its peer does not take the answers, or if there is no memory and the
   * peer does not complete a large frame. Thread-safe.
   */
  void closeIfStuck() {
    context
        .channel()
        .eventLoop()
        .execute(
            () -> {
              if (!context.channel().isWritable()) {
                LOG.info("connection {} is closed: its answers are not taken", context.channel());
                context.close();
              } else if (server.inFlight().isFull() && unread.readableBytes() > LARGE_BYTES) {
                LOG.info("connection {} is closed: its frame does not come", context.channel());
                context.close();
              }
            });
  }
}
