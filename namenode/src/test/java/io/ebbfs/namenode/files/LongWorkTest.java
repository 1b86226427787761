package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.WouldBlockException;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.Test;

/** A thread that serves many connections leaves work of unknown length to other threads. */
class LongWorkTest {
  private static final byte[] FROM_THE_START = {};

  private final NamespaceFixture f;
  private final Caller user;

  LongWorkTest() throws Exception {
    f = new NamespaceFixture();
    user = f.user("ann");
    f.mkdirs.mkdirs(f.root(), "/open", new FsPermission(0777), true);
    f.mkdirs.mkdirs(user, "/open/tree", new FsPermission(0755), true);
    f.touch(user, "/open/tree/file", false);
  }

  @Test
  void aTreeWhoseRightsMustBeCheckedIsDeletedElsewhere() throws Exception {
    assertThatThrownBy(() -> NonBlocking.run(() -> f.deletions.delete(user, "/open/tree", true)))
        .isInstanceOf(WouldBlockException.class);
    assertThat(NonBlocking.run(() -> f.deletions.delete(user, "/open/tree/file", true))).isTrue();
    assertThat(f.deletions.delete(user, "/open/tree", true)).isTrue();
    f.mkdirs("/open/other");
    assertThat(NonBlocking.run(() -> f.deletions.delete(f.root(), "/open/other", true))).isTrue();
  }

  @Test
  void aDirectoryIsListedWithLocationsElsewhere() throws Exception {
    assertThatThrownBy(
            () ->
                NonBlocking.run(
                    () -> f.reads.list(user, "/open/tree", FROM_THE_START, true, "here")))
        .isInstanceOf(WouldBlockException.class);
    assertThat(
            NonBlocking.run(() -> f.reads.list(user, "/open/tree", FROM_THE_START, false, "here"))
                .getPartialListing())
        .hasSize(1);
  }
}
