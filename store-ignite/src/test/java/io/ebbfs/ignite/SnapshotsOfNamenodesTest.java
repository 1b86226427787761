package io.ebbfs.ignite;

import static io.ebbfs.ignite.NamenodeServices.ROOT;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.ipc.RetriableException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two namenodes take snapshots of a directory that clients of both change. Each client makes a file
 * and then deletes the file before, so a snapshot of one moment shows one or two files of each
 * client, next to each other: whatever was done before the call, and nothing of after the call.
 */
@Tag("process")
class SnapshotsOfNamenodesTest {
  private static final int CLIENTS = 4;
  private static final int SNAPSHOTS = 16;

  @TempDir Path directory;

  private interface Call {
    void run() throws IOException;
  }

  /** A stock client repeats such a call, too. */
  private static void repeat(Call call) throws IOException {
    while (true) {
      try {
        call.run();
        return;
      } catch (RetriableException e) {
        Thread.onSpinWait();
      }
    }
  }

  /** Makes files 0, 1, 2 and so on, and deletes each when the next one is there. */
  private static final class Client {
    private final NamenodeServices namenode;
    private final String prefix;
    private volatile int begun;
    private volatile int done;

    Client(NamenodeServices namenode, int number) throws IOException {
      this.namenode = namenode;
      this.prefix = "/" + number + "-";
      namenode.create("/d" + prefix + 0);
    }

    Void changeUntil(AtomicBoolean isOver) throws IOException {
      while (!isOver.get()) {
        int next = done + 1;
        begun = next;
        repeat(() -> namenode.create("/d" + prefix + next));
        done = next;
        repeat(() -> namenode.deletions().delete(ROOT, "/d" + prefix + (next - 1), false));
      }
      return null;
    }

    /** The files of this client in a directory. */
    List<Integer> seenIn(NamenodeServices reader, String path, int from, int to)
        throws IOException {
      List<Integer> seen = new ArrayList<>();
      for (int file = Math.max(0, from); file <= to; file++) {
        if (reader.inodes().find(ROOT, path + prefix + file).isPresent()) {
          seen.add(file);
        }
      }
      return seen;
    }
  }

  /** What a client had done before a snapshot was asked for, and had begun after its answer. */
  private record Cut(String path, int client, int done, int begun) {
    void check(Client client, List<NamenodeServices> namenodes) throws IOException {
      for (NamenodeServices reader : namenodes) {
        List<Integer> seen = client.seenIn(reader, path, done - 2, begun + 1);
        assertThat(seen).as(this + " shows " + seen).hasSizeBetween(1, 2);
        int newest = seen.get(seen.size() - 1);
        assertThat(newest).as(this + " shows " + seen).isBetween(done, begun);
        assertThat(seen.get(0)).as(this + " shows " + seen).isEqualTo(newest - seen.size() + 1);
      }
    }
  }

  @Test
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void aSnapshotShowsOneMoment() throws Exception {
    try (StoreNodes nodes = StoreNodes.start(directory, 1);
        IgniteStore one = IgniteStore.open(nodes.client());
        IgniteStore other = IgniteStore.open(nodes.client())) {
      List<NamenodeServices> namenodes =
          List.of(NamenodeServices.on(one), NamenodeServices.on(other));
      namenodes.get(0).makeRoot();
      namenodes.get(0).mkdirs("/d");
      namenodes.get(0).snapshots().allow(ROOT, "/d");
      List<Client> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        clients.add(new Client(namenodes.get(i % 2), i));
      }
      List<Cut> cuts = cutsWhile(clients, namenodes);
      for (Cut cut : cuts) {
        cut.check(clients.get(cut.client()), namenodes);
      }
      assertThat(cuts.get(cuts.size() - 1).begun()).as("files of a client").isGreaterThan(10);
    }
  }

  /** Takes snapshots at both namenodes in turn, while the clients change the directory. */
  private static List<Cut> cutsWhile(List<Client> clients, List<NamenodeServices> namenodes)
      throws Exception {
    List<Cut> cuts = new ArrayList<>();
    AtomicBoolean isOver = new AtomicBoolean();
    ExecutorService pool = Executors.newFixedThreadPool(clients.size());
    try {
      List<Future<Void>> running = new ArrayList<>();
      clients.forEach(client -> running.add(pool.submit(() -> client.changeUntil(isOver))));
      for (int i = 0; i < SNAPSHOTS; i++) {
        String name = "s" + i;
        int[] done = clients.stream().mapToInt(client -> client.done).toArray();
        NamenodeServices namenode = namenodes.get(i % 2);
        repeat(() -> namenode.snapshots().create(ROOT, "/d", name));
        for (int client = 0; client < done.length; client++) {
          int begun = clients.get(client).begun;
          cuts.add(new Cut("/d/.snapshot/" + name, client, done[client], begun));
        }
        Thread.sleep(100);
      }
      isOver.set(true);
      for (Future<Void> one : running) {
        one.get(60, TimeUnit.SECONDS);
      }
    } finally {
      isOver.set(true);
      pool.shutdownNow();
    }
    return cuts;
  }
}
