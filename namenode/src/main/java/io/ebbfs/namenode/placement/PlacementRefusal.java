package io.ebbfs.namenode.placement;

/**
 * The answer if no placement was found.
 *
 * @param reason for the operator: what was needed, what there is, and what would help
 */
public record PlacementRefusal(String reason) implements PlacementResult {}
