package io.ebbfs.namenode.tasks.lifecycle;

import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;

/**
 * Why no place was found for the blocks of a transition, and what an operator can add. A transition
 * that ends for want of space or servers keeps it in its row.
 *
 * @param endsAs the state in which the transition ends: NO_SPACE or NO_DOMAINS
 * @param remedy for people: what is missing, and what would be enough
 * @param missingBytes on the disks that are too full; 0 if servers are missing, not space
 * @param servers how many servers were in service when the shortage was found
 * @param disks how many disks were in service
 * @param freeBytes on all of these disks
 */
public record PlacementShortage(
    TransitionStateProto endsAs,
    String remedy,
    long missingBytes,
    int servers,
    int disks,
    long freeBytes) {}
