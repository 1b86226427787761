package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.replicas.SuspectReplicas.Question;
import io.ebbfs.namenode.replicas.SuspectReplicas.Suspect;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out whether suspect replicas are bad: asks their own servers to read them, and marks a
 * replica, or takes its mark back, by their answers. An answer that says nothing changes nothing.
 *
 * <p>Thread-safe: several threads may call {@link #inspectOne}.
 */
final class ReplicaInspector {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicaInspector.class);

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final CorruptMarks marks;
  private final ReplicaVerifier verifier;
  private final String blockPoolId;
  private final Clock clock;
  private final SuspectReplicas suspects;

  ReplicaInspector(
      MetadataStore store,
      DatanodeRegistry cluster,
      CorruptMarks marks,
      ReplicaVerifier verifier,
      String blockPoolId,
      Clock clock,
      SuspectReplicas suspects) {
    this.store = store;
    this.cluster = cluster;
    this.marks = marks;
    this.verifier = verifier;
    this.blockPoolId = blockPoolId;
    this.clock = clock;
    this.suspects = suspects;
  }

  /** Adds a suspect, if the store knows such a replica. */
  void suspect(long blockId, long generationStamp, String storageUuid, String why)
      throws IOException {
    Suspect suspect = new Suspect(storageUuid, blockId, generationStamp);
    if (row(suspect).isPresent()) {
      suspects.add(suspect, why, clock.millis());
    }
  }

  /** Asks about the next suspect; false if none is due. */
  boolean inspectOne() throws IOException {
    Optional<Question> next = suspects.take(clock.millis());
    if (next.isPresent()) {
      inspect(next.get());
    }
    return next.isPresent();
  }

  private void inspect(Question question) throws IOException {
    Suspect suspect = question.suspect();
    Optional<ReplicaRow> row = row(suspect);
    Optional<Server> server =
        cluster
            .disk(suspect.storageUuid())
            .filter(disk -> cluster.isLive(disk.storageUuid()))
            .map(Disk::serverUuid)
            .flatMap(cluster::server);
    if (row.isEmpty() || server.isEmpty()) {
      return; // The full report of a server that comes back leads here again.
    }
    // Before its full report a server may not know yet what is on its disks.
    boolean knowsItsDisk = cluster.hasReported(suspect.storageUuid());
    ReplicaVerifier.Health health =
        verifier.verify(
            server.get(),
            new ExtendedBlock(
                blockPoolId,
                suspect.blockId(),
                row.get().getLengthBytes(),
                suspect.generationStamp()));
    switch (health) {
      case GOOD -> {
        suspects.noteAnswer(suspect, clock.millis());
        marks.takeBack(suspect.blockId(), suspect.generationStamp(), suspect.storageUuid());
      }
      // As HDFS does, which has no way to ask: the word of the reader counts.
      case UNABLE -> bad(question, question.why());
      case BAD -> bad(question, "its server has read it, because " + question.why());
      case MISSING -> {
        if (knowsItsDisk && cluster.hasReported(suspect.storageUuid())) {
          bad(question, "its server does not have it; it was asked because " + question.why());
        } else {
          suspects.retry(question, clock.millis());
        }
      }
      case UNKNOWN -> {
        LOG.info(
            "server {} cannot tell whether its replica of block {} is good: {}",
            server.get().uuid(),
            suspect.blockId(),
            question.why());
        suspects.retry(question, clock.millis());
      }
    }
  }

  private void bad(Question question, String why) throws IOException {
    Suspect suspect = question.suspect();
    suspects.noteAnswer(suspect, clock.millis());
    marks.set(suspect.blockId(), suspect.generationStamp(), suspect.storageUuid(), true, why);
  }

  /** The row of a replica of this generation, unless it is corrupt for good. */
  private Optional<ReplicaRow> row(Suspect suspect) throws IOException {
    return store.transact(
        suspect.blockId(),
        Durability.RELAXED,
        transaction -> {
          StoredBlock stored =
              BlockLookup.find(transaction, List.of(suspect.blockId())).get(suspect.blockId());
          if (stored == null || stored.isOutput()) {
            return Optional.empty();
          }
          return transaction
              .get(
                  Tables.REPLICA,
                  Tables.replica(stored.ownerId(), suspect.blockId(), suspect.storageUuid()))
              .filter(row -> row.getGenerationStamp() == suspect.generationStamp())
              .filter(
                  row ->
                      row.getState() != ReplicaStateProto.CORRUPT || CorruptMarks.isFoundBad(row));
        });
  }
}
