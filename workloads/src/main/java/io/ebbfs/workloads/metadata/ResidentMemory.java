package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.process.ProcessId;

/** Resident memory of namenodes. */
final class ResidentMemory {
  private ResidentMemory() {}

  static long bytes(NamenodeUnderTest namenode) {
    return ProcessId.of(namenode.pid()).map(ProcessId::residentBytes).orElse(0L);
  }

  static double mebibytes(long bytes) {
    return bytes / (double) (1 << 20);
  }
}
