package io.ebbfs.namespace.placement;

/** What {@link StripePlacement} answers. */
public sealed interface PlacementResult permits Placement, Refusal {}
