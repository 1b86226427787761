package io.ebbfs.namespace.placement;

/**
 * No placement.
 *
 * @param reason what was needed, what there is, and what would help
 */
public record Refusal(String reason) implements PlacementResult {}
