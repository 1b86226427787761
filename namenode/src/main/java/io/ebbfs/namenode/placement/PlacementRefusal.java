package io.ebbfs.namenode.placement;

/**
 * The answer if no placement was found.
 *
 * @param reason for the operator: the servers or bytes needed, those that exist, and a remedy
 */
public record PlacementRefusal(String reason) implements PlacementResult {}
