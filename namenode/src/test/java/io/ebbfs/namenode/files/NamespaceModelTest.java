package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.Seeds;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.io.FileWriteService;
import io.ebbfs.namenode.store.Tables;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.DirectoryListing;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.junit.jupiter.api.RepeatedTest;

/** Random calls give the same answers and exceptions as a model of HDFS. */
class NamespaceModelTest {
  private static final NamespaceLimits SMALL_PAGES =
      new NamespaceLimits(255, 1000, 8000, 2, 1024, 10, 512);
  private static final int STEPS = 1_500;

  private final long seed = Seeds.next(NamespaceModelTest.class);
  private final Random random = new Random(seed);
  private final ModelTree model = new ModelTree();
  private final NamespaceFixture real;

  NamespaceModelTest() throws IOException {
    real = new NamespaceFixture(SMALL_PAGES);
  }

  @FunctionalInterface
  private interface Call {
    Object run() throws IOException;
  }

  /** The result of a call: its value, or the class of its exception. */
  private static Object outcome(Call call) {
    try {
      return call.run();
    } catch (IOException | RuntimeException e) {
      // What an anonymous class adds is no matter of the model.
      Class<?> type = e.getClass();
      return type.isAnonymousClass() ? type.getSuperclass() : type;
    }
  }

  @RepeatedTest(4)
  void answersAsTheModel() throws IOException {
    System.out.println("seed " + seed);
    for (int step = 0; step < STEPS; step++) {
      real.clock.advance(1);
      oneCall(step);
    }
    assertThat(real.tree().keySet()).as("seed %d", seed).containsOnlyOnceElementsOf(model.paths());
    assertThat(real.tree()).hasSameSizeAs(model.paths());
    real.reaper.reapAll();
    assertThat(real.tree()).as("seed %d, after reaping", seed).hasSameSizeAs(model.paths());
    int inodes = model.paths().size() + 1;
    assertThat(real.rows(Tables.INODE)).isEqualTo(inodes);
    assertThat(real.rows(Tables.INODE_NAME)).isEqualTo(inodes);
    assertThat(real.rows(Tables.LEASE)).isZero();
  }

  private void oneCall(int step) {
    String path = path();
    String other = path();
    boolean flag = random.nextBoolean();
    boolean second = random.nextBoolean();
    int which = random.nextInt(16);
    String what = "seed %d, step %d, call %d (%s, %s)".formatted(seed, step, which, path, other);
    Object expected = outcome(() -> callModel(which, path, other, flag, second));
    Object found = outcome(() -> callReal(which, path, other, flag, second));
    assertThat(found).as(what).isEqualTo(expected);
  }

  private Object callModel(int which, String path, String other, boolean flag, boolean second)
      throws IOException {
    switch (which) {
      case 0, 1, 2:
        return model.mkdirs(path, flag);
      case 3, 4, 5:
        model.create(path, flag, second);
        return true;
      case 6:
        return model.delete(path, flag);
      case 7, 8, 9:
        return model.rename(path, other);
      case 10, 11, 12:
        model.rename2(path, other, flag);
        return true;
      case 13, 14:
        return model.kind(path);
      default:
        return model.names(path);
    }
  }

  private Object callReal(int which, String path, String other, boolean flag, boolean second)
      throws IOException {
    Caller root = real.root();
    switch (which) {
      case 0, 1, 2:
        return real.mkdirs.mkdirs(root, path, new FsPermission(0755), flag);
      case 3, 4, 5:
        return create(path, flag, second);
      case 6:
        return real.deletions.delete(root, path, flag);
      case 7, 8, 9:
        return real.renames.rename(root, path, other);
      case 10, 11, 12:
        real.renames.rename2(root, path, other, flag);
        return true;
      case 13, 14:
        HdfsFileStatus status = real.status(path);
        return status == null ? null : status.isDirectory();
      default:
        return list(path);
    }
  }

  private boolean create(String path, boolean overwrite, boolean makeParents) throws IOException {
    FileCreationService.Request request =
        new FileCreationService.Request(
            path, 0644, "c", "127.0.0.1", true, overwrite, makeParents, 3, 1024);
    Inode file = real.creation.create(real.root(), request);
    return real.writes.complete(
        new FileWriteService.Handle(path, file.id(), "c", "127.0.0.1"), null);
  }

  private List<String> list(String path) throws IOException {
    List<String> names = new ArrayList<>();
    byte[] after = new byte[0];
    DirectoryListing page;
    do {
      page = real.reads.list(real.root(), path, after, false, "127.0.0.1");
      if (page == null) {
        return null;
      }
      Arrays.stream(page.getPartialListing()).forEach(s -> names.add(s.getLocalName()));
      after = page.getLastName();
    } while (page.hasMore());
    return names;
  }

  private String path() {
    int depth = random.nextInt(4);
    StringBuilder path = new StringBuilder();
    for (int i = 0; i < depth; i++) {
      path.append('/').append((char) ('a' + random.nextInt(3)));
    }
    return depth == 0 ? "/" : path.toString();
  }
}
