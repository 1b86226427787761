package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.InMemoryStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclEntryScope;
import org.apache.hadoop.fs.permission.AclStatus;
import org.junit.jupiter.api.Test;

/** Clients change one list, and make files that get it, at two namenodes of one store. */
class ConcurrentAclTest {
  private static final int CLIENTS = 6;
  private static final int ROUNDS = 30;

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final List<NamespaceFixture> namenodes;

  ConcurrentAclTest() throws IOException {
    System.out.println("seed " + seed);
    InMemoryStore store = InMemoryStore.shared();
    namenodes =
        List.of(new NamespaceFixture(store), new NamespaceFixture(store.besides(System::nanoTime)));
    namenodes.get(0).mkdirs("/d");
  }

  private NamespaceFixture any(Random random) {
    return namenodes.get(random.nextInt(namenodes.size()));
  }

  @Test
  void noChangeIsLostAndNoFileGetsAHalfOfAList() throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(2 * CLIENTS);
    List<Future<Void>> running = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      running.add(executor.submit(changes("user" + i, new Random(seed + i))));
      running.add(executor.submit(creations("/d/" + i + "-", new Random(seed - i - 1))));
    }
    for (Future<Void> one : running) {
      one.get(120, TimeUnit.SECONDS);
    }
    executor.shutdownNow();
    AclStatus list = namenodes.get(1).acls.status(namenodes.get(1).root(), "/d");
    for (AclEntryScope scope : AclEntryScope.values()) {
      assertThat(names(list, scope))
          .as("%s, seed %d", scope, seed)
          .containsExactlyElementsOf(
              IntStream.range(0, CLIENTS).mapToObj(i -> "user" + i).toList());
    }
    for (int i = 0; i < CLIENTS; i++) {
      for (int file = 0; file < ROUNDS; file++) {
        checkFile("/d/" + i + "-" + file);
      }
    }
  }

  /** Each user comes and goes in both lists at once, and is there in the end. */
  private Callable<Void> changes(String user, Random random) {
    List<AclEntry> entries =
        AclEntry.parseAclSpec("user:%s:r--,default:user:%s:r--".formatted(user, user), true);
    return () -> {
      for (int i = 0; i < ROUNDS; i++) {
        NamespaceFixture namenode = any(random);
        if (i % 2 == 0) {
          namenode.acls.removeEntries(namenode.root(), "/d", entries);
        } else {
          namenode.acls.modify(namenode.root(), "/d", entries);
        }
      }
      return null;
    };
  }

  private Callable<Void> creations(String prefix, Random random) {
    return () -> {
      for (int i = 0; i < ROUNDS; i++) {
        any(random).touch(prefix + i);
      }
      return null;
    };
  }

  private void checkFile(String path) throws IOException {
    AclStatus list = namenodes.get(0).acls.status(namenodes.get(0).root(), path);
    boolean hasGroup =
        list.getEntries().stream().anyMatch(entry -> entry.toString().startsWith("group::"));
    assertThat(hasGroup)
        .as("%s %s, seed %d", path, list, seed)
        .isEqualTo(list.getEntries().size() > 0);
    assertThat(names(list, AclEntryScope.DEFAULT)).isEmpty();
  }

  private static TreeSet<String> names(AclStatus list, AclEntryScope scope) {
    TreeSet<String> names = new TreeSet<>();
    for (AclEntry entry : list.getEntries()) {
      if (entry.getScope() == scope && entry.getName() != null) {
        names.add(entry.getName());
      }
    }
    return names;
  }
}
