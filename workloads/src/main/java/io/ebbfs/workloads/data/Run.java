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
 * @param received bytes that came over links with a rate; null on loopback
 * @param noticedSeconds from a loss until the namenode knew of it, when the work began; null unless
 *     the work is a repair
 */
record Run(
    long bytes,
    double seconds,
    double millis,
    Side.Usage usage,
    double idleCores,
    double otherCores,
    Traffic traffic,
    SharedLinks.Received received,
    Double noticedSeconds) {
  /** Bytes that were read and written, and those that a plan asks for; 0: nobody knows. */
  record Traffic(long bytes, long plannedBytes) {}

  /** The same with what servers moved. */
  Run with(Traffic moved) {
    return new Run(
        bytes, seconds, millis, usage, idleCores, otherCores, moved, received, noticedSeconds);
  }

  /** The same as the repair of a loss: the bytes are those since the loss. */
  Run since(double noticed, SharedLinks.Received sinceLoss) {
    return new Run(
        bytes, seconds, millis, usage, idleCores, otherCores, traffic, sinceLoss, noticed);
  }

  double megabytes() {
    return bytes / 1e6;
  }

  double perGigabyte(double seconds) {
    return seconds / (bytes / 1e9);
  }
}
