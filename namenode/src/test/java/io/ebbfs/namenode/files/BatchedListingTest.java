package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.io.BatchedListing;
import io.ebbfs.namenode.store.FailingStore;
import io.ebbfs.namenode.store.InMemoryStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.hdfs.protocol.BatchedDirectoryListing;
import org.apache.hadoop.ipc.RetriableException;
import org.junit.jupiter.api.Test;

/** What a listing of several paths makes of failures. */
class BatchedListingTest {
  @Test
  void aFailureOfTheMomentIsNoAnswerForAPath() throws IOException {
    FailingStore failing = new FailingStore(new InMemoryStore());
    NamespaceFixture real = new NamespaceFixture(failing.store());
    real.mkdirs("/d/a");
    BatchedListing listing = new BatchedListing(real.reads, NamespaceLimits.DEFAULT);
    String[] paths = {"/missing", "/d"};
    failing.failNext(1);
    assertThatThrownBy(() -> listing.list(real.root(), paths, new byte[0], false, "127.0.0.1"))
        .isInstanceOf(RetriableException.class);
    BatchedDirectoryListing repeated =
        listing.list(real.root(), paths, new byte[0], false, "127.0.0.1");
    assertThat(repeated.getListings()).hasSize(2);
    assertThat(repeated.getListings()[0].getException().getClassName())
        .isEqualTo(FileNotFoundException.class.getName());
    assertThat(repeated.getListings()[1].getPartialListing()).hasSize(1);
  }
}
