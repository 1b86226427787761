package io.ebbfs.client;

import io.ebbfs.namenode.ReportingServers;
import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto;
import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto.Result;
import io.ebbfs.protocol.proto.AppendProtos.BatchProto;
import io.ebbfs.protocol.proto.AppendProtos.OpAppendRecordsProto;
import io.ebbfs.protocol.proto.AppendProtos.OpenBlockProto;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.zip.CRC32C;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.datatransfer.PacketHeader;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.BlockOpResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.ChecksumProto;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.ClientReadStatusProto;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.OpReadBlockProto;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.ReadOpChecksumInfoProto;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.Status;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ChecksumTypeProto;
import org.apache.hadoop.hdfs.server.protocol.BlockRecoveryCommand.RecoveringBlock;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Two chunk servers in memory, with the same replicas. They lead lanes as real servers do, serve
 * the blocks of lanes and ledgers to readers, and recover them. A test chooses what goes wrong with
 * a batch. Thread-safe.
 */
final class LanesInMemory implements AutoCloseable {
  private static final int APPEND_RECORDS = 100;
  private static final int READ_BLOCK = 81;
  private static final int BYTES_PER_CHECKSUM = 512;

  /** A lane with so many batches is full. */
  private static final int MOST_BATCHES = 12;

  private static final long POLL_MILLIS = 20;

  /** What happens to a batch. */
  enum Fate {
    STORED,
    /** The connection is lost before the batch comes. */
    LOST,
    /** The connection is lost before the answer comes. */
    STORED_WITHOUT_ANSWER,
    /** The leader dies when the ledger has the entry, and the block does not have the records. */
    ONLY_IN_LEDGER,
    /** The leader dies while it writes the entry. */
    HALF_AN_ENTRY
  }

  /** Tells what happens to the next batch. */
  interface Chance {
    Fate next();
  }

  private static final class Lane {
    final Block block;
    final Block ledger;
    int batches;
    int writers;
    boolean finished;
    boolean broken;

    Lane(Block block, Block ledger) {
      this.block = block;
      this.ledger = ledger;
    }
  }

  private final List<ServerSocket> servers = new ArrayList<>();
  private final Queue<Socket> connections = new ConcurrentLinkedQueue<>();
  private final ReportingServers reports;
  private final Thread recoverer;
  private final Map<Long, ByteArrayOutputStream> replicas = new HashMap<>();

  /** By the ids of their blocks and of their ledgers. */
  private final Map<Long, Lane> lanes = new HashMap<>();

  private Chance chance = () -> Fate.STORED;

  LanesInMemory(InetSocketAddress namenode) throws IOException {
    for (int i = 0; i < 2; i++) {
      ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      servers.add(server);
      start(() -> accept(server));
    }
    reports =
        new ReportingServers(namenode, servers.stream().map(ServerSocket::getLocalPort).toList());
    recoverer = start(this::recoverAll);
  }

  synchronized void misbehave(Chance with) {
    chance = with;
  }

  private static Thread start(Runnable body) {
    Thread thread = new Thread(body, "lanes in memory");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private void accept(ServerSocket server) {
    try {
      for (; ; ) {
        Socket socket = server.accept();
        connections.add(socket);
        start(() -> serve(socket));
      }
    } catch (IOException closed) {
      return;
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      in.readShort();
      int operation = in.readByte();
      if (operation == APPEND_RECORDS) {
        lead(OpAppendRecordsProto.parseDelimitedFrom(in), in, out);
      } else if (operation == READ_BLOCK) {
        read(OpReadBlockProto.parseDelimitedFrom(in), in, out);
      }
    } catch (IOException gone) {
      return;
    }
  }

  // ---- lanes ----------------------------------------------------------------------------------

  private void lead(OpAppendRecordsProto op, DataInputStream in, DataOutputStream out)
      throws IOException {
    Optional<Lane> joined = join(op);
    BlockOpResponseProto.newBuilder()
        .setStatus(joined.isPresent() ? Status.SUCCESS : Status.ERROR)
        .setMessage(joined.isPresent() ? "" : "this server leads no such lane")
        .build()
        .writeDelimitedTo(out);
    if (joined.isEmpty()) {
      return;
    }
    try {
      Optional<BatchAnswerProto> answer = takeNext(joined.get(), op.getWriter(), in);
      while (answer.isPresent()) {
        answer.get().writeDelimitedTo(out);
        answer = takeNext(joined.get(), op.getWriter(), in);
      }
    } finally {
      leave(joined.get());
    }
  }

  private synchronized Optional<Lane> join(OpAppendRecordsProto op) {
    Block block = block(op.getLane().getBlock());
    Lane lane = lanes.get(block.getBlockId());
    if (lane == null && !op.getJoinOnly()) {
      lane = new Lane(block, block(op.getLane().getLedger()));
      for (Block each : List.of(lane.block, lane.ledger)) {
        lanes.put(each.getBlockId(), lane);
        replicas.put(each.getBlockId(), new ByteArrayOutputStream());
      }
    }
    if (lane == null || lane.finished || lane.broken) {
      return Optional.empty();
    }
    lane.writers++;
    return Optional.of(lane);
  }

  private synchronized void leave(Lane lane) {
    lane.writers--;
  }

  private static Block block(OpenBlockProto open) {
    return new Block(open.getBlock().getBlockId(), 0, open.getBlock().getGenerationStamp());
  }

  /** Empty if the connection ends. */
  private Optional<BatchAnswerProto> takeNext(Lane lane, ByteString writer, DataInputStream in)
      throws IOException {
    BatchProto batch = BatchProto.parseDelimitedFrom(in);
    if (batch == null) {
      return Optional.empty();
    }
    byte[] records = in.readNBytes(batch.getLengthBytes());
    return records.length < batch.getLengthBytes()
        ? Optional.empty()
        : take(lane, writer, batch, records);
  }

  private synchronized Optional<BatchAnswerProto> take(
      Lane lane, ByteString writer, BatchProto batch, byte[] records) throws IOException {
    if (lane.broken) {
      return Optional.empty();
    }
    if (batch.getRecords() == 0 && lane.writers > 1) {
      return Optional.of(answer(Result.IN_USE).build());
    }
    if (lane.finished || batch.getRecords() == 0 || lane.batches == MOST_BATCHES) {
      return Optional.of(finish(lane));
    }
    Fate fate = chance.next();
    if (fate == Fate.LOST) {
      return Optional.empty();
    }
    byte[] entry = entry(writer, batch, size(lane.block) + records.length);
    replica(lane.ledger)
        .write(entry, 0, fate == Fate.HALF_AN_ENTRY ? entry.length / 2 : entry.length);
    if (fate == Fate.HALF_AN_ENTRY || fate == Fate.ONLY_IN_LEDGER) {
      lane.broken = true;
      return Optional.empty();
    }
    replica(lane.block).writeBytes(records);
    lane.batches++;
    return fate == Fate.STORED
        ? Optional.of(answer(Result.STORED).setFirstRecord(batch.getFirstRecord()).build())
        : Optional.empty();
  }

  private static BatchAnswerProto.Builder answer(Result result) {
    return BatchAnswerProto.newBuilder().setResult(result);
  }

  private static byte[] entry(ByteString writer, BatchProto batch, long end) {
    ByteBuffer out = ByteBuffer.allocate(LaneLedger.ENTRY_BYTES);
    out.put(writer.toByteArray()).putLong(batch.getFirstRecord()).putInt(batch.getRecords());
    out.putInt(batch.getLengthBytes()).putLong(end).putInt(batch.getChecksum());
    CRC32C checksum = new CRC32C();
    checksum.update(out.array(), 0, out.position());
    return out.putInt((int) checksum.getValue()).array();
  }

  private ByteArrayOutputStream replica(Block block) {
    return replicas.get(block.getBlockId());
  }

  private long size(Block block) {
    return replica(block).size();
  }

  private BatchAnswerProto finish(Lane lane) throws IOException {
    if (!lane.finished) {
      for (Block each : List.of(lane.block, lane.ledger)) {
        reports.report(new Block(each.getBlockId(), size(each), each.getGenerationStamp()));
      }
      lane.finished = true;
    }
    return answer(Result.FINISHED)
        .setBlockBytes(size(lane.block))
        .setLedgerBytes(size(lane.ledger))
        .build();
  }

  // ---- readers and recoveries -----------------------------------------------------------------

  /** Readers of whole blocks only. */
  private void read(OpReadBlockProto op, DataInputStream in, DataOutputStream out)
      throws IOException {
    byte[] bytes = bytes(op.getHeader().getBaseHeader().getBlock().getBlockId(), op.getLen());
    BlockOpResponseProto.newBuilder()
        .setStatus(Status.SUCCESS)
        .setReadOpChecksumInfo(
            ReadOpChecksumInfoProto.newBuilder()
                .setChecksum(
                    ChecksumProto.newBuilder()
                        .setType(ChecksumTypeProto.CHECKSUM_NULL)
                        .setBytesPerChecksum(BYTES_PER_CHECKSUM))
                .setChunkOffset(0))
        .build()
        .writeDelimitedTo(out);
    writePacket(out, 0, 0, bytes);
    writePacket(out, bytes.length, 1, new byte[0]);
    out.flush();
    ClientReadStatusProto.parseDelimitedFrom(in);
  }

  /** A packet without bytes is the last one. */
  private static void writePacket(DataOutputStream out, long offset, long sequence, byte[] bytes)
      throws IOException {
    new PacketHeader(
            Integer.BYTES + bytes.length, offset, sequence, bytes.length == 0, bytes.length, false)
        .write(out);
    out.write(bytes);
  }

  private synchronized byte[] bytes(long blockId, long most) {
    byte[] all = replicas.get(blockId).toByteArray();
    return Arrays.copyOf(all, (int) Math.min(most, all.length));
  }

  private void recoverAll() {
    try {
      for (; ; ) {
        Optional<RecoveringBlock> order = reports.takeRecovery();
        if (order.isPresent()) {
          recover(order.get());
        } else {
          Thread.sleep(POLL_MILLIS);
        }
      }
    } catch (InterruptedException | IOException end) {
      return;
    }
  }

  /** A refused recovery is ordered again. */
  private void recover(RecoveringBlock order) {
    try {
      reports.recovered(order, cut(order));
    } catch (IOException refused) {
      System.out.println("recovery of " + order.getBlock() + " was refused: " + refused);
    }
  }

  /** The lane takes no batch any more. */
  private synchronized long cut(RecoveringBlock order) {
    long id = order.getBlock().getBlockId();
    lanes.get(id).broken = true;
    byte[] bytes = replicas.get(id).toByteArray();
    int length =
        order.getNewBlock() == null ? bytes.length : (int) order.getNewBlock().getNumBytes();
    replicas.get(id).reset();
    replicas.get(id).write(bytes, 0, length);
    return length;
  }

  @Override
  public void close() throws IOException {
    recoverer.interrupt();
    for (ServerSocket server : servers) {
      server.close();
    }
    for (Socket socket : connections) {
      socket.close();
    }
    reports.close();
  }
}
