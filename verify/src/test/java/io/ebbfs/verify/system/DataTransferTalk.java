package io.ebbfs.verify.system;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.Random;
import java.util.zip.CRC32;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.BlockChecksumOptions;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo.DatanodeInfoBuilder;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.StripedBlockInfo;
import org.apache.hadoop.hdfs.protocol.SystemErasureCodingPolicies;
import org.apache.hadoop.hdfs.protocol.datatransfer.BlockConstructionStage;
import org.apache.hadoop.hdfs.protocol.datatransfer.PacketHeader;
import org.apache.hadoop.hdfs.protocol.datatransfer.PipelineAck;
import org.apache.hadoop.hdfs.protocol.datatransfer.Sender;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.BlockOpResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.ClientReadStatusProto;
import org.apache.hadoop.hdfs.protocol.proto.DataTransferProtos.Status;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;
import org.apache.hadoop.hdfs.security.token.block.BlockTokenSecretManager;
import org.apache.hadoop.hdfs.server.datanode.CachingStrategy;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.util.DataChecksum;

/** A conversation with the data transfer port of one server, by the messages of a stock client. */
final class DataTransferTalk implements Closeable {
  /** Fails a conversation whose server neither answers nor closes. */
  private static final int TIMEOUT_MILLIS = 20_000;

  /**
   * The answer if the server will not do it. A DataNode closes the connection in most of these
   * cases, a chunk server answers ERROR and says why: a client treats both alike.
   */
  static final String REFUSED = "refused";

  private static final DatanodeInfo[] NOBODY = {};

  private final DataChecksum checksum = DataChecksum.newDataChecksum(DataChecksum.Type.CRC32C, 512);
  private final Socket socket = new Socket();
  final DataInputStream in;
  final DataOutputStream out;
  final Sender sender;

  DataTransferTalk(int port) throws IOException {
    socket.connect(new InetSocketAddress("127.0.0.1", port), TIMEOUT_MILLIS);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    in = new DataInputStream(socket.getInputStream());
    out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
    sender = new Sender(out);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  /** Opens a pipeline of one server. */
  void write(
      ExtendedBlock block,
      String client,
      BlockConstructionStage stage,
      long minBytes,
      long maxBytes,
      long newStamp)
      throws IOException {
    sender.writeBlock(
        block,
        StorageType.DISK,
        BlockTokenSecretManager.DUMMY_TOKEN,
        client,
        NOBODY,
        new StorageType[0],
        null,
        stage,
        1,
        minBytes,
        maxBytes,
        newStamp,
        checksum,
        CachingStrategy.newDefaultStrategy(),
        false,
        false,
        new boolean[0],
        null,
        new String[0]);
  }

  void packet(long sequence, long offset, byte[] data, boolean last) throws IOException {
    byte[] sums = new byte[checksum.getChecksumSize(data.length)];
    checksum.calculateChunkedSums(data, 0, data.length, sums, 0);
    new PacketHeader(4 + sums.length + data.length, offset, sequence, last, data.length, false)
        .write(out);
    out.write(sums);
    out.write(data);
    out.flush();
  }

  /** The status of an answer, or {@link #REFUSED}. */
  String answer() throws IOException {
    try {
      return name(response().getStatus());
    } catch (EOFException | SocketException e) {
      return REFUSED;
    }
  }

  private static String name(Status status) {
    return status == Status.ERROR ? REFUSED : status.name();
  }

  private BlockOpResponseProto response() throws IOException {
    return BlockOpResponseProto.parseFrom(PBHelperClient.vintPrefixed(in));
  }

  String ack() throws IOException {
    try {
      PipelineAck ack = new PipelineAck();
      ack.readFields(in);
      return PipelineAck.getStatusFromHeader(ack.getHeaderFlag(0)).name();
    } catch (EOFException | SocketException e) {
      return REFUSED;
    }
  }

  /** Reads, and says what came: the status, or the range of the bytes and their CRC. */
  String read(ExtendedBlock block, long offset, long length, boolean checksums) throws IOException {
    sender.readBlock(
        block,
        BlockTokenSecretManager.DUMMY_TOKEN,
        "reader",
        offset,
        length,
        checksums,
        CachingStrategy.newDefaultStrategy());
    String read = packets();
    if (read.startsWith("SUCCESS")) {
      ClientReadStatusProto.newBuilder()
          .setStatus(Status.CHECKSUM_OK)
          .build()
          .writeDelimitedTo(out);
      out.flush();
    }
    return read;
  }

  /** Copies as the target of a move does, and says what came. */
  String copy(ExtendedBlock block) throws IOException {
    sender.copyBlock(block, BlockTokenSecretManager.DUMMY_TOKEN);
    String copied = packets();
    return copied.startsWith("SUCCESS") ? copied + ", end " + in.readChar() : copied;
  }

  /** The status of the answer, or the range of the bytes and their CRC. */
  private String packets() throws IOException {
    BlockOpResponseProto response;
    try {
      response = response();
    } catch (EOFException | SocketException e) {
      return REFUSED;
    }
    if (response.getStatus() != Status.SUCCESS) {
      return name(response.getStatus());
    }
    CRC32 crc = new CRC32();
    long bytes = 0;
    long sums = 0;
    for (; ; ) {
      int body = in.readInt() - 4;
      byte[] headerBytes = new byte[in.readShort()];
      in.readFully(headerBytes);
      PacketHeader header = new PacketHeader();
      header.setFieldsFromData(body + 4, headerBytes);
      sums += in.skipBytes(body - header.getDataLen());
      byte[] data = in.readNBytes(header.getDataLen());
      crc.update(data);
      bytes += data.length;
      if (header.isLastPacketInBlock()) {
        break;
      }
    }
    return "SUCCESS %d bytes from %d, %s, crc %x"
        .formatted(
            bytes,
            response.getReadOpChecksumInfo().getChunkOffset(),
            sums > 0 ? "with checksums" : "without checksums",
            crc.getValue());
  }

  String checksum(ExtendedBlock block, BlockChecksumOptions options) throws IOException {
    sender.blockChecksum(block, BlockTokenSecretManager.DUMMY_TOKEN, options);
    return checksum();
  }

  /** The checksum of the first bytes of a block group whose first block this server has. */
  String groupChecksum(ExtendedBlock group, long requestedBytes, BlockChecksumOptions options)
      throws IOException {
    DatanodeID itself =
        new DatanodeID("127.0.0.1", "127.0.0.1", "itself", socket.getPort(), 0, 0, 0);
    sender.blockGroupChecksum(
        new StripedBlockInfo(
            group,
            new DatanodeInfo[] {new DatanodeInfoBuilder().setNodeID(itself).build()},
            new Token[] {BlockTokenSecretManager.DUMMY_TOKEN},
            new byte[] {0},
            SystemErasureCodingPolicies.getByID(SystemErasureCodingPolicies.XOR_2_1_POLICY_ID)),
        BlockTokenSecretManager.DUMMY_TOKEN,
        requestedBytes,
        options);
    return checksum();
  }

  private String checksum() throws IOException {
    try {
      BlockOpResponseProto response = response();
      return name(response.getStatus())
          + (response.hasChecksumResponse()
              ? " " + response.getChecksumResponse().getBlockChecksum().hashCode()
              : "");
    } catch (EOFException | SocketException e) {
      return REFUSED;
    }
  }

  static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }
}
