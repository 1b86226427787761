package io.ebbfs.namenode.placement;

/** The answer to a request for disks: a placement, or the reason why there is none. */
public sealed interface PlacementResult permits Placement, PlacementRefusal {}
