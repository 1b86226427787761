package io.ebbfs.client;

import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto;
import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto.Result;
import io.ebbfs.protocol.proto.AppendProtos.BatchProto;
import io.ebbfs.protocol.proto.AppendProtos.OpAppendRecordsProto;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.BlockOpResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.Status;

/** A chunk server without disks that leads lanes: it stores all batches by forgetting them. */
final class TestLeader implements AutoCloseable {
  /** What the leader answers to a writer. */
  interface Judge {
    /** Empty if the writer may append, or else why it may not. */
    String refusal(OpAppendRecordsProto op) throws IOException;
  }

  private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final Queue<Socket> connections = new ConcurrentLinkedQueue<>();

  /** The operations that came, in order. */
  final Queue<OpAppendRecordsProto> operations = new ConcurrentLinkedQueue<>();

  volatile Judge judge = op -> "";

  TestLeader() throws IOException {
    start(this::accept);
  }

  private static void start(Runnable body) {
    Thread thread = new Thread(body, "test leader");
    thread.setDaemon(true);
    thread.start();
  }

  int port() {
    return server.getLocalPort();
  }

  private void accept() {
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
      DataInputStream in = new DataInputStream(socket.getInputStream());
      OutputStream out = socket.getOutputStream();
      in.readShort();
      in.readByte();
      OpAppendRecordsProto op = OpAppendRecordsProto.parseDelimitedFrom(in);
      operations.add(op);
      String refusal = judge.refusal(op);
      BlockOpResponseProto.newBuilder()
          .setStatus(refusal.isEmpty() ? Status.SUCCESS : Status.ERROR)
          .setMessage(refusal)
          .build()
          .writeDelimitedTo(out);
      while (refusal.isEmpty()) {
        BatchProto batch = BatchProto.parseDelimitedFrom(in);
        if (batch == null) {
          return;
        }
        in.readNBytes(batch.getLengthBytes());
        BatchAnswerProto.newBuilder()
            .setResult(batch.getRecords() == 0 ? Result.IN_USE : Result.STORED)
            .setFirstRecord(batch.getFirstRecord())
            .build()
            .writeDelimitedTo(out);
      }
    } catch (IOException gone) {
      return;
    }
  }

  /** Closes the connections of all writers, and none with which a writer comes back meanwhile. */
  void dropWriters() {
    List<Socket> writers = new ArrayList<>();
    for (Socket socket = connections.poll(); socket != null; socket = connections.poll()) {
      writers.add(socket);
    }
    try {
      for (Socket socket : writers) {
        socket.close();
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    dropWriters();
  }
}
