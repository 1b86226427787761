package io.ebbfs.raid.mapreduce;

import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.raid.executor.TransitionExecutor;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongPredicate;
import org.apache.hadoop.conf.Configuration;

/**
 * The state that the parts of one job share in the JVM that submits it. MapReduce makes mappers and
 * readers from class names; they find this object by the id in their configuration. A map in
 * another JVM (on YARN) does not find it and makes connections of its own.
 */
final class RunningJob implements AutoCloseable {
  static final String ID = "ebbfs.raid.job";
  static final String MAPS = "ebbfs.raid.maps";
  static final String WORKER = "ebbfs.raid.worker";
  static final String NAMENODE = "ebbfs.raid.namenode";
  static final String COMBINE_TIMEOUT = "ebbfs.raid.combine-timeout-millis";
  static final String BYTES_PER_SECOND = "ebbfs.raid.bytes-per-second";

  private static final Map<String, RunningJob> JOBS = new ConcurrentHashMap<>();

  private final String id = UUID.randomUUID().toString();
  private final ClaimedBatch batch;
  private final TransitionExecutor executor;
  private final LongPredicate lost;
  private final AtomicInteger waiting = new AtomicInteger();

  RunningJob(ClaimedBatch batch, TransitionExecutor executor, LongPredicate lost) {
    this.batch = batch;
    this.executor = executor;
    this.lost = lost;
    JOBS.put(id, this);
  }

  /** The job of a configuration, or null in another JVM. */
  static RunningJob find(Configuration conf) {
    return JOBS.get(conf.get(ID, ""));
  }

  static RunningJob required(Configuration conf) {
    RunningJob job = find(conf);
    if (job == null) {
      throw new IllegalStateException("job " + conf.get(ID) + " was not made in this JVM");
    }
    return job;
  }

  String id() {
    return id;
  }

  /** Divides the transitions that the job begins with among maps. */
  List<List<ClaimedTransitionProto>> split(int maps) {
    List<List<ClaimedTransitionProto>> splits = BatchSplitter.of(batch.claimed(), maps);
    waiting.set(splits.size());
    return splits;
  }

  /** Called when a map begins with its split. */
  void begun() {
    waiting.decrementAndGet();
  }

  /** One more transition for a map that is done, once all splits have begun. */
  Optional<ClaimedTransitionProto> more() {
    return waiting.get() > 0 ? Optional.empty() : batch.claimOne();
  }

  TransitionExecutor executor() {
    return executor;
  }

  LongPredicate lost() {
    return lost;
  }

  @Override
  public void close() {
    JOBS.remove(id);
  }
}
