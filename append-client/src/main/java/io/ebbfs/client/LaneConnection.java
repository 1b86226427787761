package io.ebbfs.client;

import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto;
import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto.Result;
import io.ebbfs.protocol.proto.AppendProtos.BatchProto;
import io.ebbfs.protocol.proto.AppendProtos.LaneProto;
import io.ebbfs.protocol.proto.AppendProtos.OpAppendRecordsProto;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.BlockOpResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.Status;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * A writer's connection to the chunk server that leads a lane. One thread sends; a thread of the
 * connection takes the answers.
 */
final class LaneConnection implements Closeable {
  private static final int VERSION = 28;
  private static final int APPEND_RECORDS = 100;
  private static final int CONNECT_MILLIS = 10_000;

  /** A pipeline is set up, or gives up, in this time. */
  private static final int OPEN_MILLIS = 90_000;

  /** A leader that does not answer a batch for so long is given up. */
  private static final int ANSWER_MILLIS = 60_000;

  /** So often a silent leader is noticed. */
  private static final int SILENCE_CHECK_MILLIS = 5_000;

  /** The beginning of a refusal if the leader, or the lane, takes no more writers. */
  private static final String BUSY = "BUSY: ";

  private final Socket socket;
  private final AtomicInteger unanswered = new AtomicInteger();

  /** When the leader last answered, or when a batch was sent to a leader that owed no answer. */
  private volatile long waitingSinceNanos;

  private final InputStream in;
  private final DataOutputStream out;

  private LaneConnection(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream());
    this.out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 64 << 10));
  }

  /**
   * Opens a lane that nobody else knows yet, and joins it.
   *
   * @param answers as for {@link #join}
   */
  static LaneConnection create(LaneProto lane, UUID writer, Consumer<BatchAnswerProto> answers)
      throws IOException {
    return open(lane, writer, false, answers);
  }

  /**
   * Joins the lane. Fails if its server leads it no more: a lane that was sealed is never opened
   * again.
   *
   * @param answers gets each answer, on a thread of the connection. The last one is FINISHED or
   *     BROKEN; a lost connection counts as BROKEN
   */
  static LaneConnection join(LaneProto lane, UUID writer, Consumer<BatchAnswerProto> answers)
      throws IOException {
    return open(lane, writer, true, answers);
  }

  private static LaneConnection open(
      LaneProto lane, UUID writer, boolean joinOnly, Consumer<BatchAnswerProto> answers)
      throws IOException {
    DatanodeIDProto leader = lane.getBlock().getTargets(0).getId();
    Socket socket = new Socket();
    try {
      socket.setTcpNoDelay(true);
      socket.connect(
          new InetSocketAddress(leader.getIpAddr(), leader.getXferPort()), CONNECT_MILLIS);
      LaneConnection connection = new LaneConnection(socket);
      connection.ask(lane, writer, joinOnly);
      Thread reader =
          new Thread(
              () -> connection.read(answers),
              "answers of lane " + lane.getBlock().getBlock().getBlockId());
      reader.setDaemon(true);
      reader.start();
      return connection;
    } catch (IOException | RuntimeException failure) {
      socket.close();
      throw failure;
    }
  }

  private void ask(LaneProto lane, UUID writer, boolean joinOnly) throws IOException {
    ByteBuffer id = ByteBuffer.allocate(16);
    id.putLong(writer.getMostSignificantBits()).putLong(writer.getLeastSignificantBits()).flip();
    out.writeShort(VERSION);
    out.writeByte(APPEND_RECORDS);
    OpAppendRecordsProto.newBuilder()
        .setLane(lane)
        .setWriter(ByteString.copyFrom(id))
        .setJoinOnly(joinOnly)
        .build()
        .writeDelimitedTo(out);
    out.flush();
    socket.setSoTimeout(OPEN_MILLIS);
    BlockOpResponseProto response = BlockOpResponseProto.parseDelimitedFrom(in);
    if (response != null && response.getMessage().startsWith(BUSY)) {
      throw new LaneBusyException(
          "%s refuses: %s".formatted(socket.getRemoteSocketAddress(), response.getMessage()));
    }
    if (response == null || response.getStatus() != Status.SUCCESS) {
      throw new LaneRefusedException(
          "%s does not lead the lane of block %d"
              .formatted(socket.getRemoteSocketAddress(), lane.getBlock().getBlock().getBlockId()),
          response == null ? "it closed the connection" : response.getMessage());
    }
    socket.setSoTimeout(SILENCE_CHECK_MILLIS);
  }

  private void expectAnswer() {
    if (unanswered.get() == 0) {
      waitingSinceNanos = System.nanoTime();
    }
    unanswered.incrementAndGet();
  }

  private boolean isSilent() {
    return unanswered.get() > 0
        && System.nanoTime() - waitingSinceNanos > ANSWER_MILLIS * 1_000_000L;
  }

  void send(Batch batch) throws IOException {
    expectAnswer();
    batch.writeTo(out);
    out.flush();
  }

  /** Asks that the lane be finished unless others use it. */
  void askToFinish() throws IOException {
    expectAnswer();
    BatchProto.newBuilder()
        .setFirstRecord(0)
        .setRecords(0)
        .setLengthBytes(0)
        .setChecksum(0)
        .build()
        .writeDelimitedTo(out);
    out.flush();
  }

  private void read(Consumer<BatchAnswerProto> answers) {
    String why;
    try {
      for (; ; ) {
        BatchAnswerProto answer = next();
        if (answer == null) {
          why = "the server closed the connection";
          break;
        }
        if (answer.getResult() == Result.STORED || answer.getResult() == Result.IN_USE) {
          waitingSinceNanos = System.nanoTime();
          unanswered.decrementAndGet();
        }
        answers.accept(answer);
        if (answer.getResult() == Result.FINISHED || answer.getResult() == Result.BROKEN) {
          return;
        }
      }
    } catch (IOException | RuntimeException lost) {
      why = "the connection to the server was lost: " + lost.getMessage();
    }
    answers.accept(BatchAnswerProto.newBuilder().setResult(Result.BROKEN).setMessage(why).build());
  }

  /** The next answer, or null at the end of the connection. */
  private BatchAnswerProto next() throws IOException {
    for (; ; ) {
      in.mark(1);
      try {
        if (in.read() < 0) {
          return null;
        }
      } catch (SocketTimeoutException silence) {
        if (!isSilent()) {
          continue;
        }
        socket.close();
        throw silence;
      }
      in.reset();
      socket.setSoTimeout(ANSWER_MILLIS); // the rest of an answer comes with its beginning
      try {
        return BatchAnswerProto.parseDelimitedFrom(in);
      } finally {
        socket.setSoTimeout(SILENCE_CHECK_MILLIS);
      }
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException nothingToDo) {
      return;
    }
  }
}
