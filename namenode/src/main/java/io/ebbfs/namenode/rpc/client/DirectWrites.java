package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.files.inodes.CreateModes;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.io.FileWriteService.Handle;
import io.ebbfs.namenode.replicas.WriterWishes;
import io.ebbfs.namenode.rpc.server.LaterException;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import java.io.IOException;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.AddBlockRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.CompleteRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.CreateRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeInfoProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.ExtendedBlockProto;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;
import org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException;

/**
 * Answers the calls of ClientProtocol by which a client writes a file, as {@link DirectCalls} does
 * for calls that read. Where a call waits for a report of a chunk server, no thread waits.
 * Thread-safe.
 */
final class DirectWrites {
  private final FileServices files;
  private final CallContext context;
  private final BlockPlacesEncoder encoder;

  DirectWrites(FileServices files, CallContext context, BlockPlacesEncoder encoder) {
    this.files = files;
    this.context = context;
    this.encoder = encoder;
  }

  Map<String, MethodHandler> handlers() {
    return Map.of("create", this::create, "addBlock", this::addBlock, "complete", this::complete);
  }

  private byte[] create(byte[] frame, int offset, int length) throws IOException {
    CreateRequestProto request = CreateRequestProto.parser().parseFrom(frame, offset, length);
    EnumSet<CreateFlag> flags = PBHelperClient.convertCreateFlag(request.getCreateFlag()).get();
    CreateArguments.check(flags, request.hasEcPolicyName() ? request.getEcPolicyName() : null);
    FileCreationService.Request file =
        new FileCreationService.Request(
            request.getSrc(),
            CreateModes.of(
                CreateArguments.permission(
                    request.getMasked(), request.hasUnmasked() ? request.getUnmasked() : null)),
            request.getClientName(),
            context.clientMachine(),
            flags,
            request.getCreateParent(),
            (short) request.getReplication(),
            request.getBlockSize(),
            request.getStoragePolicy(),
            request.hasEcPolicyName() ? request.getEcPolicyName() : null);
    return FileStatusEncoder.alone(files.creation().create(context.caller(), file));
  }

  private byte[] addBlock(byte[] frame, int offset, int length) throws IOException {
    AddBlockRequestProto request = AddBlockRequestProto.parser().parseFrom(frame, offset, length);
    Handle handle = handle(request.getSrc(), request.getFileId(), request.getClientName());
    Block previous = request.hasPrevious() ? block(request.getPrevious()) : null;
    Set<String> excluded = uuids(request.getExcludeNodesList());
    WriterWishes wishes =
        WriterWishes.of(
            request.getFavoredNodesList(),
            PBHelperClient.convertAddBlockFlags(request.getFlagsList()));
    try {
      return encoder.added(files.writes().addBlock(handle, previous, excluded, wishes));
    } catch (NotReplicatedYetException e) {
      throw new LaterException(
          files.writes().reported(handle, 1, previous),
          () -> encoder.added(files.writes().addBlock(handle, previous, excluded, wishes)));
    }
  }

  private byte[] complete(byte[] frame, int offset, int length) throws IOException {
    CompleteRequestProto request = CompleteRequestProto.parser().parseFrom(frame, offset, length);
    Handle handle = handle(request.getSrc(), request.getFileId(), request.getClientName());
    Block last = request.hasLast() ? block(request.getLast()) : null;
    if (files.writes().complete(handle, last)) {
      return ProtoBytes.answer(true);
    }
    throw new LaterException(
        files.writes().reported(handle, 0, last),
        () -> ProtoBytes.answer(files.writes().complete(handle, last)));
  }

  private Handle handle(String src, long fileId, String clientName) {
    return new Handle(src, fileId, clientName, context.clientMachine());
  }

  private static Block block(ExtendedBlockProto block) {
    return new Block(block.getBlockId(), block.getNumBytes(), block.getGenerationStamp());
  }

  private static Set<String> uuids(List<DatanodeInfoProto> servers) {
    if (servers.isEmpty()) {
      return Set.of();
    }
    Set<String> uuids = new HashSet<>();
    servers.forEach(server -> uuids.add(server.getId().getDatanodeUuid()));
    return uuids;
  }
}
