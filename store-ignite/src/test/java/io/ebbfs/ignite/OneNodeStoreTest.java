package io.ebbfs.ignite;

import org.junit.jupiter.api.Tag;

/** The contract with one node. */
@Tag("process")
class OneNodeStoreTest extends IgniteStoreContract {
  @Override
  int countOfNodes() {
    return 1;
  }
}
