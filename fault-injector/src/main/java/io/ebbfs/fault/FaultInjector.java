package io.ebbfs.fault;

import io.ebbfs.fault.BlockFiles.Replica;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.ProcessNames;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

/**
 * Injects faults into a cluster on this machine: into files on its disks, its processes and its
 * links. A method without a target chooses one at random. Not thread-safe.
 */
public final class FaultInjector {
  private static final int FLIPPED_BYTES = 16;

  private final LocalCluster cluster;
  private final Random random;

  /** An injector. The same seed makes the same choices in the same cluster. */
  public FaultInjector(LocalCluster cluster, Random random) {
    this.cluster = cluster;
    this.random = random;
  }

  // ---- blocks -----------------------------------------------------------------------------------

  /** Deletes one replica of any block, data and checksum file. The server is not told. */
  public Injected deleteBlock() throws IOException, ClusterException {
    return delete(anyReplica(replicas()));
  }

  /** Deletes one replica of a block. */
  public Injected deleteBlock(long blockId) throws IOException, ClusterException {
    return delete(replicaOf(blockId));
  }

  /** Deletes one replica of one block of a file of the file system. */
  public Injected deleteBlock(String path) throws IOException, ClusterException {
    return delete(replicaOf(path));
  }

  /** Flips some bytes of one replica of any block; its checksums stay as they were. */
  public Injected corruptBlock() throws IOException, ClusterException {
    return corrupt(anyReplica(replicas()));
  }

  /** Flips some bytes of one replica of a block. */
  public Injected corruptBlock(long blockId) throws IOException, ClusterException {
    return corrupt(replicaOf(blockId));
  }

  /** Flips some bytes of one replica of one block of a file of the file system. */
  public Injected corruptBlock(String path) throws IOException, ClusterException {
    return corrupt(replicaOf(path));
  }

  /** Forges one replica of any block: other bytes of the same length, and checksums that fit. */
  public Injected forgeBlock() throws IOException, ClusterException {
    return forge(anyReplica(replicas()));
  }

  /** Forges one replica of a block. */
  public Injected forgeBlock(long blockId) throws IOException, ClusterException {
    return forge(replicaOf(blockId));
  }

  /** Forges one replica of one block of a file of the file system. */
  public Injected forgeBlock(String path) throws IOException, ClusterException {
    return forge(replicaOf(path));
  }

  private Injected forge(Replica replica) throws IOException, ClusterException {
    byte[] data = Files.readAllBytes(replica.file());
    for (int i = 0; i < FLIPPED_BYTES; i++) {
      data[random.nextInt(data.length)] ^= (byte) (1 + random.nextInt(255));
    }
    ChecksumFile.forge(replica, data);
    return new Injected(
        "forged block %d: other bytes with checksums that fit in %s"
            .formatted(replica.blockId(), relative(replica.file())),
        List.of(replica.blockId()),
        replica.files());
  }

  private Injected delete(Replica replica) throws IOException {
    List<Path> files = replica.files();
    for (Path file : files) {
      Files.delete(file);
    }
    return new Injected(
        "deleted block %d: %s".formatted(replica.blockId(), relative(replica.file())),
        List.of(replica.blockId()),
        files);
  }

  private Injected corrupt(Replica replica) throws IOException {
    TreeSet<Long> places = new TreeSet<>();
    try (RandomAccessFile file = new RandomAccessFile(replica.file().toFile(), "rw")) {
      long length = file.length();
      for (int i = 0; i < Math.min(FLIPPED_BYTES, length); i++) {
        places.add(random.nextLong(length));
      }
      for (long place : places) {
        file.seek(place);
        int old = file.read();
        file.seek(place);
        file.write(old ^ (1 + random.nextInt(255)));
      }
      file.getFD().sync();
    }
    return new Injected(
        "corrupted block %d: %d of its bytes in %s"
            .formatted(replica.blockId(), places.size(), relative(replica.file())),
        List.of(replica.blockId()),
        List.of(replica.file()));
  }

  private List<Replica> replicas() throws IOException, ClusterException {
    List<Replica> all = new ArrayList<>();
    for (int server = 0; server < cluster.layout().servers(); server++) {
      for (int disk = 0; disk < cluster.layout().disks(); disk++) {
        all.addAll(BlockFiles.below(cluster.diskDirectory(server, disk)));
      }
    }
    return all;
  }

  private Replica anyReplica(List<Replica> among) throws IOException, ClusterException {
    List<Replica> left = new ArrayList<>(among);
    while (!left.isEmpty()) {
      Replica chosen = left.remove(random.nextInt(left.size()));
      try {
        if (Files.size(chosen.file()) > 0) {
          return chosen;
        }
      } catch (NoSuchFileException e) {
        // Its server has deleted it since it was listed.
        continue;
      }
    }
    throw new ClusterException("no block in %s: store a file first".formatted(cluster.directory()));
  }

  private Replica replicaOf(long blockId) throws IOException, ClusterException {
    List<Replica> found = replicas().stream().filter(r -> r.blockId() == blockId).toList();
    if (found.isEmpty()) {
      throw new ClusterException(
          "no replica of block %d on any disk of %s: name another block, or a path"
              .formatted(blockId, cluster.directory()));
    }
    return anyReplica(found);
  }

  private Replica replicaOf(String path) throws IOException, ClusterException {
    List<Long> blocks = BlocksOfFile.list(cluster, path);
    List<Replica> found =
        replicas().stream().filter(replica -> blocks.contains(replica.blockId())).toList();
    if (found.isEmpty()) {
      throw new ClusterException(
          "no replica of any of the %d blocks of %s on any disk".formatted(blocks.size(), path));
    }
    return anyReplica(found);
  }

  private Path relative(Path file) {
    return cluster.directory().relativize(file);
  }

  // ---- disks ------------------------------------------------------------------------------------

  /** Fails any disk that holds blocks. */
  public Injected failDisk() throws IOException, ClusterException, InterruptedException {
    Path file = anyReplica(replicas()).file();
    for (int server = 0; server < cluster.layout().servers(); server++) {
      for (int disk = 0; disk < cluster.layout().disks(); disk++) {
        if (file.startsWith(cluster.diskDirectory(server, disk))) {
          return failDisk(server, disk);
        }
      }
    }
    throw new IllegalStateException(file.toString());
  }

  /** Kills a server, deletes every block on one of its disks, and starts it if it was running. */
  public Injected failDisk(int server, int disk)
      throws IOException, ClusterException, InterruptedException {
    Path directory = cluster.diskDirectory(server, disk);
    boolean running = cluster.killServer(server);
    List<Long> ids = new ArrayList<>();
    List<Path> files = new ArrayList<>();
    for (Replica replica : BlockFiles.below(directory)) {
      ids.add(replica.blockId());
      for (Path file : replica.files()) {
        files.add(file);
        Files.delete(file);
      }
    }
    if (running) {
      cluster.startServer(server);
    }
    return new Injected(
        "failed disk %d of server %d: %d blocks deleted, %s"
            .formatted(disk, server, ids.size(), running ? "server restarted" : "server is down"),
        ids,
        files);
  }

  // ---- processes --------------------------------------------------------------------------------

  /** Kills any chunk server that runs. */
  public Injected killServer() throws ClusterException, InterruptedException {
    return killServer(choose(true));
  }

  /** Kills a chunk server with SIGKILL. */
  public Injected killServer(int server) throws ClusterException, InterruptedException {
    boolean was = cluster.killServer(server);
    return process(
        was ? "killed server %d".formatted(server) : "server %d was down".formatted(server));
  }

  /** Starts any chunk server that is down. */
  public Injected reviveServer() throws ClusterException, InterruptedException {
    return reviveServer(choose(false));
  }

  /** Starts a chunk server that is down. */
  public Injected reviveServer(int server) throws ClusterException, InterruptedException {
    cluster.startServer(server);
    return process("revived server %d".formatted(server));
  }

  /** Any chunk server that runs. */
  public int anyRunningServer() throws ClusterException {
    return choose(true);
  }

  /** Kills a chunk server and starts it again, several times. It is down for half a period. */
  public Injected flap(int server, int times, long periodMillis)
      throws ClusterException, InterruptedException {
    if (times < 1 || periodMillis < 1) {
      throw new ClusterException(
          "a server flaps at least once, with a period of at least 1 ms: %d times every %d ms"
              .formatted(times, periodMillis));
    }
    for (int i = 0; i < times; i++) {
      cluster.killServer(server);
      Thread.sleep(periodMillis / 2);
      cluster.startServer(server);
      Thread.sleep(i + 1 < times ? periodMillis - periodMillis / 2 : 0);
    }
    return process("server %d went down and came up %d times".formatted(server, times));
  }

  // ---- racks ------------------------------------------------------------------------------------

  /** Any rack. */
  public int anyRack() throws ClusterException {
    return random.nextInt(racks());
  }

  /** Kills all chunk servers of a rack. */
  public Injected killRack(int rack) throws ClusterException, InterruptedException {
    List<Integer> servers = serversOf(rack);
    for (int server : servers) {
      cluster.killServer(server);
    }
    return process("killed rack %d: servers %s".formatted(rack, servers));
  }

  /** Starts those chunk servers of a rack that are down. */
  public Injected reviveRack(int rack) throws ClusterException, InterruptedException {
    List<Integer> started = new ArrayList<>();
    for (int server : serversOf(rack)) {
      if (!isRunning(server)) {
        cluster.startServer(server);
        started.add(server);
      }
    }
    return process("revived rack %d: servers %s".formatted(rack, started));
  }

  private List<Integer> serversOf(int rack) throws ClusterException {
    int racks = racks();
    if (rack < 0 || rack >= racks) {
      throw new ClusterException(
          "no rack %d: the cluster has racks 0 to %d".formatted(rack, racks - 1));
    }
    List<Integer> servers = new ArrayList<>();
    for (int server = rack; server < cluster.layout().servers(); server += racks) {
      servers.add(server);
    }
    return servers;
  }

  private int racks() throws ClusterException {
    int racks = cluster.layout().racks();
    if (racks < 2) {
      throw new ClusterException(
          "the cluster has no racks: create it with 'up --racks N', or kill servers");
    }
    return racks;
  }

  // ---- links ------------------------------------------------------------------------------------

  /** Sets the rate of a server's link in both directions, in the notation of tc: 10mbit. */
  public Injected slowLink(int server, String rate) throws ClusterException, InterruptedException {
    lab("slow").setRate(server(server), rate);
    return process("the link of server %d has %s now".formatted(server, rate));
  }

  /** Sets the rate of a server's link back to that of the lab. */
  public Injected restoreLink(int server) throws ClusterException, InterruptedException {
    ShapedNetwork lab = lab("restore");
    lab.setRate(server(server), lab.rate());
    return process("the link of server %d has %s again".formatted(server, lab.rate()));
  }

  private int server(int server) throws ClusterException {
    cluster.diskDirectory(server, 0); // fails if there is no such server
    return server;
  }

  private ShapedNetwork lab(String what) throws ClusterException {
    ShapedNetwork lab = cluster.layout().lab();
    if (lab == null) {
      throw new ClusterException(
          "there is no link to %s: the cluster in %s is on loopback; links are those of a lab (ebb"
                  .formatted(what, cluster.directory())
              + " lab up)");
    }
    return lab;
  }

  // ---- all --------------------------------------------------------------------------------------

  /** Kills every process of the cluster with SIGKILL. */
  public Injected killAll() throws ClusterException, InterruptedException {
    int running = cluster.running().size();
    cluster.killAll();
    return process("killed all %d processes".formatted(running));
  }

  private static Injected process(String what) {
    return new Injected(what, List.of(), List.of());
  }

  private boolean isRunning(int server) {
    return cluster.running().containsKey(ProcessNames.server(server));
  }

  private int choose(boolean running) throws ClusterException {
    List<Integer> servers = new ArrayList<>();
    for (int server = 0; server < cluster.layout().servers(); server++) {
      if (isRunning(server) == running) {
        servers.add(server);
      }
    }
    if (servers.isEmpty()) {
      throw new ClusterException(running ? "no chunk server runs" : "no chunk server is down");
    }
    return servers.get(random.nextInt(servers.size()));
  }
}
