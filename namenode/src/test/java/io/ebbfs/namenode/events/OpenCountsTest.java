package io.ebbfs.namenode.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.events.OpenCounts.Opens;
import io.ebbfs.namenode.files.inodes.FsPath;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class OpenCountsTest {
  private static final FsPath PATH = FsPath.parse("/a/file");

  private final OpenCounts counts = new OpenCounts(2);

  @Test
  void theOpensOfOneFileAreOneEventWithACount() {
    counts.add(7, PATH, 100, "first");
    counts.add(7, PATH, 300, "second");
    counts.add(7, PATH, 200, "third");

    assertThat(drained()).containsExactly(new Opens(7, PATH, 300, "first", 3));
    assertThat(drained()).isEmpty();
  }

  @Test
  void onlySoManyFilesAreCountedBetweenTwoDrains() {
    assertThat(counts.add(1, PATH, 1, "c")).isTrue();
    assertThat(counts.add(2, PATH, 1, "c")).isTrue();
    assertThat(counts.add(3, PATH, 1, "c")).isFalse();
    assertThat(counts.add(2, PATH, 1, "c")).isTrue();
    drained();
    assertThat(counts.add(3, PATH, 1, "c")).isTrue();
  }

  @Test
  void noOpenIsLostWhileOthersDrain() throws Exception {
    int threads = 4;
    int each = 20_000;
    OpenCounts counts = new OpenCounts(100);
    List<Opens> all = new ArrayList<>();
    try (AutoClosingPool pool = new AutoClosingPool(Executors.newFixedThreadPool(threads))) {
      for (int i = 0; i < threads; i++) {
        pool.service().execute(() -> addMany(counts, each));
      }
      pool.service().shutdown();
      while (!pool.service().awaitTermination(1, TimeUnit.MILLISECONDS)) {
        counts.drain(all::add);
      }
    }
    counts.drain(all::add);

    assertThat(all.stream().mapToLong(Opens::count).sum()).isEqualTo((long) threads * each);
  }

  private static void addMany(OpenCounts counts, int opens) {
    for (int i = 0; i < opens; i++) {
      counts.add(i % 2, PATH, i, "c");
    }
  }

  private List<Opens> drained() {
    List<Opens> all = new ArrayList<>();
    counts.drain(all::add);
    return all;
  }

  private record AutoClosingPool(ExecutorService service) implements AutoCloseable {
    @Override
    public void close() {
      service.shutdownNow();
    }
  }
}
