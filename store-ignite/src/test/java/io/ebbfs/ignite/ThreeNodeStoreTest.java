package io.ebbfs.ignite;

import org.junit.jupiter.api.Tag;

/** The contract with three nodes. */
@Tag("process")
class ThreeNodeStoreTest extends IgniteStoreContract {
  @Override
  int countOfNodes() {
    return 3;
  }
}
