package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.DirectoryHints;
import io.ebbfs.namenode.store.LaggingStore;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.junit.jupiter.api.Test;

/** Listings on a store that shows one row of a commit earlier than another one. */
class LaggingListingTest {
  private final LaggingStore store = new LaggingStore(new DirectoryHints(System::nanoTime));

  @Test
  void aListingShowsNoEntryUnderTwoNames() throws IOException {
    NamespaceFixture real = new NamespaceFixture(store);
    real.mkdirs("/d");
    real.touch("/d/a");
    real.touch("/d/e");
    long directory = real.status("/d").getFileId();
    var old = Tables.inode(directory, "e".getBytes(StandardCharsets.UTF_8));
    InodeRow before = store.transact(directory, t -> t.get(Tables.INODE, old)).orElseThrow();
    real.renames.rename2(real.root(), "/d/e", "/d/a", true);
    store.lag(Tables.INODE, old, before);
    assertThat(names(real, "/d")).containsExactly("a");
    assertThat(store.conflicts()).isPositive();
  }

  /** The scan passes the new name before the rename writes it, and the old one after its end. */
  @Test
  void aListingDoesNotLackAnEntryThatIsRenamed() throws IOException {
    NamespaceFixture real = new NamespaceFixture(store);
    real.mkdirs("/d");
    real.touch("/d/e");
    real.touch("/d/f");
    long directory = real.status("/d").getFileId();
    real.renames.rename2(real.root(), "/d/e", "/d/a", false);
    store.lagInScan(
        Tables.INODE, Tables.inode(directory, "a".getBytes(StandardCharsets.UTF_8)), null);
    assertThat(names(real, "/d")).containsExactly("a", "f");
  }

  /** One mkdir makes three directories, and the store shows the upper ones first. */
  @Test
  void whoSeesANewDirectorySeesThoseBelow() throws IOException {
    NamespaceFixture real = new NamespaceFixture(store);
    real.mkdirs("/d/e/f");
    long upper = real.status("/d").getFileId();
    long middle = real.status("/d/e").getFileId();
    long last = real.status("/d/e/f").getFileId();
    var entry = Tables.inode(upper, "e".getBytes(StandardCharsets.UTF_8));
    var below = Tables.inode(middle, "f".getBytes(StandardCharsets.UTF_8));
    int conflicts = store.conflicts();
    store.lagUntilAwaited(Tables.INODE, entry, null);
    assertThat(names(real, "/d")).containsExactly("e");
    store.lagUntilAwaited(Tables.INODE, entry, null);
    store.lagUntilAwaited(Tables.INODE, below, null);
    assertThat(real.status("/d/e/f").getFileId()).isEqualTo(last);
    assertThat(real.status("/d/e/g")).isNull();
    assertThat(store.conflicts()).isEqualTo(conflicts);
  }

  @Test
  void aNameThatADamagedStoreHasTwiceIsListedTwice() throws IOException {
    NamespaceFixture real = new NamespaceFixture(store);
    real.mkdirs("/d");
    real.touch("/d/a");
    long directory = real.status("/d").getFileId();
    store.transact(
        directory,
        t -> {
          var name = Tables.inode(directory, "a".getBytes(StandardCharsets.UTF_8));
          var twin = Tables.inode(directory, "b".getBytes(StandardCharsets.UTF_8));
          t.put(Tables.INODE, twin, t.get(Tables.INODE, name).orElseThrow());
          return null;
        });
    assertThat(names(real, "/d")).containsExactly("a", "b");
  }

  private static List<String> names(NamespaceFixture real, String path) throws IOException {
    HdfsFileStatus[] listed =
        real.reads.list(real.root(), path, new byte[0], false, "client").getPartialListing();
    return Stream.of(listed).map(HdfsFileStatus::getLocalName).toList();
  }
}
