package io.ebbfs.client;

import io.ebbfs.client.LaneFinder.Joined;
import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto;
import io.ebbfs.protocol.proto.AppendProtos.LaneProto;
import io.ebbfs.protocol.proto.AppendProtos.OpenBlockProto;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;

/**
 * Creates a lane: its two files, a block of each, and the pipelines of both. Others learn of the
 * lane only when all servers have it, so that whoever seals the lane finds replicas that stop the
 * leader. Of one thread.
 */
final class LaneCreator {
  private static final int MOST_ATTEMPTS = 5;

  /** A server that could not be used is not asked for so long. */
  private static final long EXCLUDED_NANOS = 60_000_000_000L;

  private final LaneFiles files;
  private final AppendOptions options;
  private final Map<DatanodeInfo, Long> excludedUntil = new LinkedHashMap<>();

  LaneCreator(LaneFiles files, AppendOptions options) {
    this.files = files;
    this.options = options;
  }

  /**
   * Creates the first lane of a slot that has no ledger. Its name is not the only one that writers
   * may choose, so that two writers may do this at once: the older ledger stays then.
   */
  Optional<Joined> createFirst(LaneName name, UUID writer, Consumer<BatchAnswerProto> answers)
      throws IOException {
    if (!files.createFile(name.ledger())) {
      return Optional.empty();
    }
    if (files.ledgers(Optional.of(name.slot())).stream()
        .anyMatch(other -> other.generation() < name.generation())) {
      files.namenode().delete(name.ledger(), false);
      return Optional.empty();
    }
    return createBlock(name, writer, answers);
  }

  /** Empty if another writer creates the lane, or has given it up. */
  Optional<Joined> create(LaneName name, UUID writer, Consumer<BatchAnswerProto> answers)
      throws IOException {
    return files.createFile(name.ledger()) ? createBlock(name, writer, answers) : Optional.empty();
  }

  private Optional<Joined> createBlock(
      LaneName name, UUID writer, Consumer<BatchAnswerProto> answers) throws IOException {
    boolean told = false;
    Optional<Joined> opened = Optional.empty();
    try {
      if (files.createFile(name.block())) {
        opened = Optional.of(open(name, writer, answers));
        told = files.tell(name, opened.get().lane());
      }
    } finally {
      if (!told) {
        opened.ifPresent(unknown -> unknown.connection().close());
        giveUp(name);
      }
    }
    if (told) {
      removeOldLedgers(name);
    }
    return told ? opened : Optional.empty();
  }

  private void removeOldLedgers(LaneName newest) {
    try {
      files.removeOldLedgers(newest);
    } catch (IOException theNextCreatorRemovesThem) {
      return;
    }
  }

  /** The block goes only if nobody can know the lane. */
  private void giveUp(LaneName name) throws IOException {
    if (files.abandon(name)) {
      files.namenode().delete(name.block(), false);
      files.setSealedBytes(name, 0);
    }
  }

  private Joined open(LaneName name, UUID writer, Consumer<BatchAnswerProto> answers)
      throws IOException {
    IOException last = null;
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      LocatedBlock ledger = addBlock(name.ledger());
      LocatedBlock block = addBlock(name.block());
      LaneProto lane =
          LaneProto.newBuilder()
              .setBlock(open(block))
              .setLedger(open(ledger))
              .setCapacityBytes(files.blockSizeBytes())
              .setIdleMillis(options.idleMillis())
              .setAgeMillis(options.ageMillis())
              .build();
      try {
        return new Joined(name, lane, LaneConnection.create(lane, writer, answers), true);
      } catch (IOException refused) {
        last = refused;
        exclude(refused, block, ledger);
        files.abandonBlock(name.block(), block);
        files.abandonBlock(name.ledger(), ledger);
      }
    }
    throw last;
  }

  private LocatedBlock addBlock(String name) throws IOException {
    excludedUntil.values().removeIf(until -> System.nanoTime() - until > 0);
    try {
      return files.addBlock(name, excludedUntil.keySet().toArray(DatanodeInfo[]::new));
    } catch (IOException failure) {
      excludedUntil.clear(); // there may be no other servers
      throw failure;
    }
  }

  private static OpenBlockProto open(LocatedBlock block) {
    OpenBlockProto.Builder open =
        OpenBlockProto.newBuilder().setBlock(PBHelperClient.convert(block.getBlock()));
    for (DatanodeInfo target : block.getLocations()) {
      open.addTargets(PBHelperClient.convert(target));
    }
    return open.addAllStorageUuids(Arrays.asList(block.getStorageIDs())).build();
  }

  /** Excludes the servers that the refusal names, or else the leader. */
  private void exclude(IOException refused, LocatedBlock block, LocatedBlock ledger) {
    long until = System.nanoTime() + EXCLUDED_NANOS;
    boolean named = false;
    for (LocatedBlock of : List.of(block, ledger)) {
      for (DatanodeInfo server : of.getLocations()) {
        if (!(refused instanceof LaneBusyException) && names(refused, server)) {
          excludedUntil.put(server, until);
          named = true;
        }
      }
    }
    if (!named) {
      excludedUntil.put(block.getLocations()[0], until);
    }
  }

  private static boolean names(IOException refused, DatanodeInfo server) {
    return refused instanceof LaneRefusedException told
        && told.reason().contains(server.getXferAddr());
  }
}
