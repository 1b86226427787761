package io.ebbfs.raid;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.ClaimRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.RenewRequestProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.settings.FailPoint;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims transitions in batches and runs each batch as a MapReduce job, which claims more for maps
 * that are done. Two queues, each two jobs at a time: repairs never wait for conversions. Holds no
 * state that matters: if it dies, its claims expire and the transitions are claimed anew.
 * Thread-safe.
 */
public final class RaidNode implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RaidNode.class);
  private static final List<TransitionKindProto> REPAIRS = List.of(TransitionKindProto.REPAIR);
  private static final List<TransitionKindProto> CONVERSIONS =
      List.of(
          TransitionKindProto.ENCODE,
          TransitionKindProto.UPCODE,
          TransitionKindProto.DOWNCODE,
          TransitionKindProto.REWRITE,
          TransitionKindProto.MOVE);
  // A job ends with its slowest transition: meanwhile the next one uses what is free. With four,
  // rebuilding a server took 40% longer on two cores: their maps are as many threads.
  private static final int JOBS_PER_QUEUE = 2;

  // Maps that are done claim more, up to this: then the job ends, and is seen to have ended.
  private static final int BATCHES_PER_JOB = 4;
  static final int JOBS_AT_ONCE = 2 * JOBS_PER_QUEUE;
  private static final long CODING_TIMEOUT_MILLIS = 60_000;
  private static final long CLOSE_MILLIS = 10_000;
  private static final long SCRUB_LOOK_MILLIS = 10_000;

  private final RaidConfig config;
  private final Supplier<CodingProtocol> coding;
  private final String name;
  private final AtomicLong batches = new AtomicLong();
  private final JobRunner jobs;
  private final TransitionExecutor executor;
  private final JobHistory history = new JobHistory();
  private final EquationScrub scrub;

  /** What is claimed now, and under which name: each batch has its own. */
  private final Map<Long, String> held = new ConcurrentHashMap<>();

  private final List<Thread> queues = new ArrayList<>();
  private final ScheduledExecutorService renewals;
  private final List<AutoCloseable> connections = new ArrayList<>();
  private final Object work = new Object();
  private long wakeUps;
  private volatile boolean closed;

  /**
   * A raid-node that is not started yet.
   *
   * @param data a directory of its own for staging; emptied
   * @param namenode host:port, for maps that run in another JVM
   */
  public RaidNode(
      RaidConfig config,
      Path data,
      String namenode,
      Supplier<CodingProtocol> coding,
      ChunkChannel chunks)
      throws IOException {
    this.config = config;
    this.coding = coding;
    this.name = "raid-" + UUID.randomUUID().toString().substring(0, 8);
    this.jobs = new JobRunner(config, data, namenode);
    AtOnce threads = AtOnce.inThreads("raid-ask");
    connections.add(threads);
    Throttle bytes = new Throttle(config.bytesPerSecond(), System::nanoTime, Thread::sleep);
    this.executor =
        new TransitionExecutor(
            name,
            coding.get(),
            chunks,
            bytes,
            new CombineLimits(config.combines(), config.combinesPerServer()),
            threads,
            Thread::sleep);
    this.scrub =
        new EquationScrub(
            config.scrub(),
            coding,
            chunks,
            new Throttle(config.scrub().stripesPerSecond(), System::nanoTime, Thread::sleep),
            bytes,
            Clock.systemUTC());
    this.renewals =
        Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "raid-renewals"));
  }

  /** A raid-node that talks to a namenode and its chunk servers over Hadoop RPC. */
  public static RaidNode overRpc(RaidConfig config, Path data, InetSocketAddress namenode)
      throws IOException {
    CodingProtocol coding = Rpc.coding(namenode, CODING_TIMEOUT_MILLIS);
    RpcChunkChannel chunks = new RpcChunkChannel(config.combineTimeoutMillis());
    RaidNode node =
        new RaidNode(
            config,
            data,
            namenode.getHostString() + ":" + namenode.getPort(),
            () -> coding,
            chunks);
    node.connections.add(chunks);
    node.connections.add(() -> RPC.stopProxy(coding));
    return node;
  }

  static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Starts to claim and to run. */
  public void start() {
    long third = Math.max(1, config.leaseMillis() / 3);
    renewals.scheduleWithFixedDelay(this::renew, third, third, TimeUnit.MILLISECONDS);
    for (int i = 0; i < JOBS_PER_QUEUE; i++) {
      queues.add(daemon(() -> loop("repair", REPAIRS), "raid-repair-" + i));
      queues.add(daemon(() -> loop("convert", CONVERSIONS), "raid-convert-" + i));
    }
    if (config.scrub().periodMillis() > 0) {
      queues.add(daemon(this::scrubLoop, "raid-scrub"));
    }
    queues.forEach(Thread::start);
  }

  /** Says that there may be work: the next claim does not wait for its turn. */
  public void wake() {
    synchronized (work) {
      wakeUps++;
      work.notifyAll();
    }
  }

  /** The latest jobs, newest first. */
  public List<JobStatus> jobs() {
    return history.jobs();
  }

  /** Counters over all jobs of this process: see {@link JobStatus#counters}, and jobs by state. */
  public Map<String, Long> totals() {
    return history.totals();
  }

  // ---- the queues -------------------------------------------------------------------------------

  private void loop(String queue, List<TransitionKindProto> kinds) {
    String trouble = "";
    String worker = workerName(queue);
    while (!closed) {
      long seen = wakeUps();
      try {
        Batch batch = batch(worker, kinds);
        trouble = "";
        if (!batch.claim(config.batch()).isEmpty()) {
          FailPoint.RAID_AFTER_CLAIM.reach();
          runJob(queue, worker, batch);
          worker = workerName(queue);
          continue;
        }
      } catch (InterruptedException e) {
        return;
      } catch (IOException | RuntimeException e) {
        // Said once, not at every turn, while a namenode is away.
        if (!closed && !trouble.equals(e.toString())) {
          trouble = e.toString();
          LOG.warn("{} queue: {}; trying on", queue, trouble);
        }
      }
      if (!await(seen)) {
        return;
      }
    }
  }

  // ---- the scrub --------------------------------------------------------------------------------

  private void scrubLoop() {
    String trouble = "";
    while (!closed) {
      try {
        long wait = scrub.step();
        trouble = "";
        // Not too long at once: another raid-node may do the passes, or the clock be set.
        Thread.sleep(Math.min(wait, SCRUB_LOOK_MILLIS));
      } catch (InterruptedException e) {
        return;
      } catch (IOException | RuntimeException e) {
        if (!closed && !trouble.equals(e.toString())) {
          trouble = e.toString();
          LOG.warn("scrub: {}; trying on", trouble);
        }
        if (!await(wakeUps())) {
          return;
        }
      }
    }
  }

  private String workerName(String queue) {
    return "%s-%s-%d".formatted(name, queue, batches.incrementAndGet());
  }

  private long wakeUps() {
    synchronized (work) {
      return wakeUps;
    }
  }

  private boolean await(long seen) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.pollMillis());
    synchronized (work) {
      try {
        long left = config.pollMillis();
        while (wakeUps == seen && left > 0 && !closed) {
          work.wait(left);
          left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        }
        return true;
      } catch (InterruptedException e) {
        return false;
      }
    }
  }

  private Batch batch(String worker, List<TransitionKindProto> kinds) {
    return new Batch(
        BATCHES_PER_JOB * config.batch(),
        limit -> closed ? List.of() : claim(worker, kinds, limit),
        claimed -> held.put(claimed.getTransition().getId(), worker));
  }

  private List<ClaimedTransitionProto> claim(
      String worker, List<TransitionKindProto> kinds, int limit) throws IOException {
    try {
      return coding
          .get()
          .claim(
              null,
              ClaimRequestProto.newBuilder()
                  .setWorker(worker)
                  .setLimit(limit)
                  .setLeaseMillis(config.leaseMillis())
                  .addAllKinds(kinds)
                  .build())
          .getClaimedList();
    } catch (ServiceException e) {
      throw Rpc.cause(e);
    }
  }

  private void runJob(String queue, String worker, Batch batch)
      throws IOException, InterruptedException {
    JobStatus running =
        new JobStatus(
            "", queue, "RUNNING", System.currentTimeMillis(), 0, batch.kinds(), Map.of(), "");
    history.started(running);
    try {
      JobRunner.End end =
          jobs.run(batch, executor.named(worker), id -> !worker.equals(held.get(id)));
      history.ended(running, ended(running, batch, end));
      LOG.info("{} {} {}: {}", queue, end.id(), batch.kinds(), end.counters());
      if (!end.succeeded()) {
        LOG.warn("job {} failed: {}; its claims expire", end.id(), end.failure());
      }
    } catch (IOException | RuntimeException e) {
      JobRunner.End end = new JobRunner.End("", false, Map.of(), e.toString());
      history.ended(running, ended(running, batch, end));
      throw e;
    } finally {
      batch.claimed().forEach(c -> held.remove(c.getTransition().getId(), worker));
    }
  }

  private static JobStatus ended(JobStatus running, Batch batch, JobRunner.End end) {
    return new JobStatus(
        end.id(),
        running.queue(),
        end.succeeded() ? "SUCCEEDED" : "FAILED",
        running.startedMillis(),
        System.currentTimeMillis(),
        batch.kinds(),
        end.counters(),
        end.failure());
  }

  // ---- claims -----------------------------------------------------------------------------------

  private void renew() {
    Map<String, List<Long>> byWorker = new HashMap<>();
    held.forEach((id, worker) -> byWorker.computeIfAbsent(worker, w -> new ArrayList<>()).add(id));
    byWorker.forEach(this::renew);
  }

  private void renew(String worker, List<Long> ids) {
    try {
      coding
          .get()
          .renew(
              null,
              RenewRequestProto.newBuilder()
                  .setWorker(worker)
                  .addAllTransitionIds(ids)
                  .setLeaseMillis(config.leaseMillis())
                  .build())
          .getLostTransitionIdsList()
          .forEach(id -> held.remove(id, worker));
    } catch (ServiceException | RuntimeException e) {
      LOG.warn("claims were not renewed: {}; trying on", e.toString());
    }
  }

  /** Stops claiming and interrupts what runs; claims of unfinished transitions expire. */
  @Override
  public void close() throws IOException {
    closed = true;
    wake();
    renewals.shutdownNow();
    queues.forEach(Thread::interrupt);
    try {
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
      for (Thread queue : queues) {
        queue.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
      }
      for (AutoCloseable connection : connections) {
        connection.close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      throw new IOException("closing the raid-node", e);
    }
  }
}
