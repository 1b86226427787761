package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.io.FileReadService.Page;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.DirectoryListing;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetBlockLocationsRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetFileInfoRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetListingRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetListingResponseProto;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;

/**
 * Answers the most frequent calls of ClientProtocol: from rows to bytes, without Hadoop's objects
 * in between. {@link ClientFrontEnd} answers the same in Hadoop's objects. Thread-safe.
 */
public final class DirectCalls {
  private static final byte[] NOTHING = {};

  private final FileServices files;
  private final CallContext context;
  private final BlockPlacesEncoder encoder;

  public DirectCalls(FileServices files, Caller.Superuser superuser, String blockPoolId) {
    this.files = files;
    this.context = new CallContext(superuser);
    this.encoder = new BlockPlacesEncoder(blockPoolId);
  }

  /** The handlers by the names of their methods. */
  public Map<String, MethodHandler> handlers() {
    Map<String, MethodHandler> handlers =
        new HashMap<>(new DirectWrites(files, context, encoder).handlers());
    handlers.putAll(new DirectChanges(files, context).handlers());
    handlers.put("getFileInfo", this::getFileInfo);
    handlers.put("getListing", this::getListing);
    handlers.put("getBlockLocations", this::getBlockLocations);
    return handlers;
  }

  private byte[] getBlockLocations(byte[] frame, int offset, int length) throws IOException {
    GetBlockLocationsRequestProto request =
        GetBlockLocationsRequestProto.parser().parseFrom(frame, offset, length);
    return encoder.locations(
        files
            .reads()
            .places(
                context.caller(),
                request.getSrc(),
                request.getOffset(),
                request.getLength(),
                context.clientMachine()));
  }

  private byte[] getFileInfo(byte[] frame, int offset, int length) throws IOException {
    GetFileInfoRequestProto request =
        GetFileInfoRequestProto.parser().parseFrom(frame, offset, length);
    Optional<Inode> inode = files.inodes().look(context.caller(), request.getSrc());
    return inode.map(FileStatusEncoder::alone).orElse(NOTHING);
  }

  private byte[] getListing(byte[] frame, int offset, int length) throws IOException {
    GetListingRequestProto request =
        GetListingRequestProto.parser().parseFrom(frame, offset, length);
    byte[] startAfter = request.getStartAfter().toByteArray();
    if (request.getNeedLocation()) {
      return located(request.getSrc(), startAfter);
    }
    Page page = files.reads().list(context.caller(), request.getSrc(), startAfter);
    return page == null
        ? NOTHING
        : FileStatusEncoder.listing(page.inodes(), page.listed().isDirectory(), page.remaining());
  }

  /** Locations are rarely asked for, and are left to Hadoop's classes. */
  private byte[] located(String src, byte[] startAfter) throws IOException {
    DirectoryListing listing =
        files.reads().list(context.caller(), src, startAfter, true, context.clientMachine());
    return listing == null
        ? NOTHING
        : GetListingResponseProto.newBuilder()
            .setDirList(PBHelperClient.convert(listing))
            .build()
            .toByteArray();
  }
}
