package io.ebbfs.raid.executor;

import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineFailureProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifiedBlockProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.VerifyResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.BadBlockProto;
import io.ebbfs.raid.channel.ChunkChannel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds the bad replicas among the sources that a combine could not read. A replica is bad if its
 * own server has read it and says so. A replica on a server that is down, not ready or cannot tell
 * is not known to be bad.
 */
record BadSourceFinder(ChunkChannel chunks) {

  /** The bad replicas among the sources that a combine could not read. */
  List<BadBlockProto> among(CombineRequestProto request, CombineResponseProto response) {
    List<BadBlockProto> bad = new ArrayList<>();
    for (CombineFailureProto failure : response.getFailedSourcesList()) {
      if (failure.getIndex() < request.getSourcesCount()) {
        SourceProto source = request.getSources(failure.getIndex());
        for (BlockLocationProto location : source.getLocationsList()) {
          check(source, location, bad);
        }
      }
    }
    return bad;
  }

  private void check(SourceProto source, BlockLocationProto at, List<BadBlockProto> bad) {
    try {
      VerifyResponseProto response =
          chunks.verify(
              at.getServer(), VerifyRequestProto.newBuilder().addBlocks(source.getBlock()).build());
      if (response.getBlocksCount() != 1
          || response.getBlocks(0).getHealth() == BlockHealthProto.BLOCK_OK
          || response.getBlocks(0).getHealth() == BlockHealthProto.BLOCK_UNKNOWN) {
        return;
      }
      VerifiedBlockProto found = response.getBlocks(0);
      bad.add(
          BadBlockProto.newBuilder()
              .setBlock(source.getBlock())
              .setLocation(at)
              .setReason(found.getHealth() + ": " + found.getMessage())
              .setHealth(found.getHealth())
              .build());
    } catch (IOException e) {
      // The namenode notices by itself if the server is dead.
      return;
    }
  }
}
