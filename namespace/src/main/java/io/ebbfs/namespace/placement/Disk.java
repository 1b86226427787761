package io.ebbfs.namespace.placement;

/**
 * A disk in service, as placement sees it.
 *
 * @param rack the rack of its server; the same for all if there is only one
 * @param capacityBytes what it holds in all; 0 if that is not known
 * @param freeBytes what can still be written to it
 * @param load how busy it is: 0 idle, 1 as busy as it should get
 */
public record Disk(
    String storageUuid,
    String serverUuid,
    String rack,
    long capacityBytes,
    long freeBytes,
    double load) {
  /** The share of its space that is taken, 0 to 1; 0 if its capacity is not known. */
  public double utilisation() {
    return capacityBytes <= 0 ? 0 : Math.max(0, 1 - (double) freeBytes / capacityBytes);
  }
}
