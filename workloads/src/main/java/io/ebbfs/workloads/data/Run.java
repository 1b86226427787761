package io.ebbfs.workloads.data;

/**
 * One round of one kind of work on one system.
 *
 * @param bytes that the client wrote or read; 0 if the work is not counted by them
 * @param seconds of the whole
 * @param millis of the median part
 * @param usage of the system and its client
 * @param idleCores processors that the other system kept busy meanwhile
 * @param otherCores processors that strangers kept busy meanwhile
 * @param traffic bytes that servers moved for it, and the plan's; null if nobody counts them
 */
record Run(
    long bytes,
    double seconds,
    double millis,
    Side.Usage usage,
    double idleCores,
    double otherCores,
    Traffic traffic) {
  /** Bytes that were read and written, and those that a plan asks for; 0: nobody knows. */
  record Traffic(long bytes, long plannedBytes) {}

  /** The same with what servers moved. */
  Run with(Traffic moved) {
    return new Run(bytes, seconds, millis, usage, idleCores, otherCores, moved);
  }

  double megabytes() {
    return bytes / 1e6;
  }

  double perGigabyte(double seconds) {
    return seconds / (bytes / 1e9);
  }
}
