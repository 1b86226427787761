package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.files.io.FilePlaces;
import io.ebbfs.namenode.replicas.BlockLocator;
import io.ebbfs.namenode.replicas.BlockPlaces;
import io.ebbfs.namenode.replicas.BlockPlaces.Place;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.AddBlockResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetBlockLocationsResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.LocatedBlockProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.LocatedBlocksProto;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.thirdparty.protobuf.CodedOutputStream;

/**
 * Writes LocatedBlockProto straight from the rows of blocks: the same bytes as Hadoop's classes
 * write, without their objects. Hadoop's classes describe a server only when a heartbeat has
 * changed it. Thread-safe.
 */
final class BlockPlacesEncoder {
  private static final byte[] NO_TOKEN = PBHelperClient.convert(new Token<>()).toByteArray();

  /** A server as of one heartbeat, and its DatanodeInfoProto. */
  private record Described(Server server, byte[] info) {}

  private final byte[] blockPoolId;
  private final Map<String, Described> servers = new ConcurrentHashMap<>();

  BlockPlacesEncoder(String blockPoolId) {
    this.blockPoolId = blockPoolId.getBytes(StandardCharsets.UTF_8);
  }

  /** A GetBlockLocationsResponseProto. */
  byte[] locations(FilePlaces file) {
    List<byte[]> blocks = file.blocks().stream().map(this::located).toList();
    byte[] last = file.last() == null ? null : located(file.last());
    int size = size(file, blocks, last);
    return ProtoBytes.of(
        ProtoBytes.delimited(GetBlockLocationsResponseProto.LOCATIONS_FIELD_NUMBER, size),
        out -> {
          ProtoBytes.begin(out, GetBlockLocationsResponseProto.LOCATIONS_FIELD_NUMBER, size);
          write(out, file, blocks, last);
        });
  }

  /** An AddBlockResponseProto. */
  byte[] added(BlockPlaces block) {
    byte[] located = located(block);
    return ProtoBytes.of(
        CodedOutputStream.computeByteArraySize(AddBlockResponseProto.BLOCK_FIELD_NUMBER, located),
        out -> out.writeByteArray(AddBlockResponseProto.BLOCK_FIELD_NUMBER, located));
  }

  private byte[] located(BlockPlaces where) {
    if (where.groupIndices() != null) {
      return PBHelperClient.convertLocatedBlock(
              BlockLocator.located(new String(blockPoolId, StandardCharsets.UTF_8), where))
          .toByteArray();
    }
    byte[][] infos = new byte[where.places().size()][];
    for (int i = 0; i < infos.length; i++) {
      infos[i] = describe(where.places().get(i).server());
    }
    return ProtoBytes.of(size(where, infos), out -> write(out, where, infos));
  }

  private byte[] describe(Server server) {
    Described known = servers.get(server.uuid());
    if (known == null || known.server() != server) {
      byte[] info = PBHelperClient.convert(BlockLocator.info(server)).toByteArray();
      known = new Described(server, info);
      servers.put(server.uuid(), known);
    }
    return known.info();
  }

  // Each list of fields is there twice: as sizes and as writes.

  private static int size(FilePlaces file, List<byte[]> blocks, byte[] last) {
    int size =
        CodedOutputStream.computeUInt64Size(
                LocatedBlocksProto.FILELENGTH_FIELD_NUMBER, file.lengthBytes())
            + CodedOutputStream.computeBoolSize(
                LocatedBlocksProto.UNDERCONSTRUCTION_FIELD_NUMBER, file.underConstruction())
            + CodedOutputStream.computeBoolSize(
                LocatedBlocksProto.ISLASTBLOCKCOMPLETE_FIELD_NUMBER, file.lastComplete());
    for (byte[] block : blocks) {
      size += CodedOutputStream.computeByteArraySize(LocatedBlocksProto.BLOCKS_FIELD_NUMBER, block);
    }
    if (file.policy() != null) {
      size +=
          CodedOutputStream.computeByteArraySize(
              LocatedBlocksProto.ECPOLICY_FIELD_NUMBER, PolicyBytes.of(file.policy()));
    }
    return last == null
        ? size
        : size
            + CodedOutputStream.computeByteArraySize(
                LocatedBlocksProto.LASTBLOCK_FIELD_NUMBER, last);
  }

  private static void write(
      CodedOutputStream out, FilePlaces file, List<byte[]> blocks, byte[] last) throws IOException {
    out.writeUInt64(LocatedBlocksProto.FILELENGTH_FIELD_NUMBER, file.lengthBytes());
    for (byte[] block : blocks) {
      out.writeByteArray(LocatedBlocksProto.BLOCKS_FIELD_NUMBER, block);
    }
    out.writeBool(LocatedBlocksProto.UNDERCONSTRUCTION_FIELD_NUMBER, file.underConstruction());
    if (last != null) {
      out.writeByteArray(LocatedBlocksProto.LASTBLOCK_FIELD_NUMBER, last);
    }
    out.writeBool(LocatedBlocksProto.ISLASTBLOCKCOMPLETE_FIELD_NUMBER, file.lastComplete());
    if (file.policy() != null) {
      out.writeByteArray(LocatedBlocksProto.ECPOLICY_FIELD_NUMBER, PolicyBytes.of(file.policy()));
    }
  }

  private static int numberOf(StorageType type) {
    return PBHelperClient.convertStorageType(type).getNumber();
  }

  private int size(BlockPlaces where, byte[][] infos) {
    int size =
        ProtoBytes.delimited(LocatedBlockProto.B_FIELD_NUMBER, size(where.block()))
            + CodedOutputStream.computeUInt64Size(
                LocatedBlockProto.OFFSET_FIELD_NUMBER, where.offsetBytes())
            + CodedOutputStream.computeBoolSize(
                LocatedBlockProto.CORRUPT_FIELD_NUMBER, where.corrupt())
            + CodedOutputStream.computeByteArraySize(
                LocatedBlockProto.BLOCKTOKEN_FIELD_NUMBER, NO_TOKEN);
    for (byte[] info : infos) {
      size += CodedOutputStream.computeByteArraySize(LocatedBlockProto.LOCS_FIELD_NUMBER, info);
    }
    for (Place place : where.places()) {
      size +=
          CodedOutputStream.computeEnumSize(
              LocatedBlockProto.STORAGETYPES_FIELD_NUMBER, numberOf(place.type()));
      size +=
          CodedOutputStream.computeStringSize(
              LocatedBlockProto.STORAGEIDS_FIELD_NUMBER, place.storageUuid());
    }
    return infos.length == 0
        ? size
        : size + ProtoBytes.delimited(LocatedBlockProto.ISCACHED_FIELD_NUMBER, infos.length);
  }

  private void write(CodedOutputStream out, BlockPlaces where, byte[][] infos) throws IOException {
    ProtoBytes.begin(out, LocatedBlockProto.B_FIELD_NUMBER, size(where.block()));
    write(out, where.block());
    out.writeUInt64(LocatedBlockProto.OFFSET_FIELD_NUMBER, where.offsetBytes());
    for (byte[] info : infos) {
      out.writeByteArray(LocatedBlockProto.LOCS_FIELD_NUMBER, info);
    }
    out.writeBool(LocatedBlockProto.CORRUPT_FIELD_NUMBER, where.corrupt());
    out.writeByteArray(LocatedBlockProto.BLOCKTOKEN_FIELD_NUMBER, NO_TOKEN);
    if (infos.length > 0) {
      ProtoBytes.begin(out, LocatedBlockProto.ISCACHED_FIELD_NUMBER, infos.length);
      for (int i = 0; i < infos.length; i++) {
        out.writeBoolNoTag(false);
      }
    }
    for (Place place : where.places()) {
      out.writeEnum(LocatedBlockProto.STORAGETYPES_FIELD_NUMBER, numberOf(place.type()));
    }
    for (Place place : where.places()) {
      out.writeString(LocatedBlockProto.STORAGEIDS_FIELD_NUMBER, place.storageUuid());
    }
  }

  private int size(BlockRow block) {
    return CodedOutputStream.computeByteArraySize(
            ExtendedBlockProto.POOLID_FIELD_NUMBER, blockPoolId)
        + CodedOutputStream.computeUInt64Size(
            ExtendedBlockProto.BLOCKID_FIELD_NUMBER, block.getBlockId())
        + CodedOutputStream.computeUInt64Size(
            ExtendedBlockProto.GENERATIONSTAMP_FIELD_NUMBER, block.getGenerationStamp())
        + CodedOutputStream.computeUInt64Size(
            ExtendedBlockProto.NUMBYTES_FIELD_NUMBER, block.getLengthBytes());
  }

  private void write(CodedOutputStream out, BlockRow block) throws IOException {
    out.writeByteArray(ExtendedBlockProto.POOLID_FIELD_NUMBER, blockPoolId);
    out.writeUInt64(ExtendedBlockProto.BLOCKID_FIELD_NUMBER, block.getBlockId());
    out.writeUInt64(ExtendedBlockProto.GENERATIONSTAMP_FIELD_NUMBER, block.getGenerationStamp());
    out.writeUInt64(ExtendedBlockProto.NUMBYTES_FIELD_NUMBER, block.getLengthBytes());
  }
}
