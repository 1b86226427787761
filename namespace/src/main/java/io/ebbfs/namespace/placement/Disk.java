package io.ebbfs.namespace.placement;

/**
 * A disk in service, as placement sees it.
 *
 * @param rack the rack of its server; the same for all if there is only one
 * @param freeBytes what can still be written to it
 * @param load how busy it is: 0 idle, 1 as busy as it should get
 */
public record Disk(
    String storageUuid, String serverUuid, String rack, long freeBytes, double load) {}
