package io.ebbfs.namenode.replicas;

import java.util.List;

/**
 * The wish to level disks by a move of a member of a stripe.
 *
 * @param position of the member in its stripe
 * @param fromStorageUuid the disk that has the member
 * @param toStorageUuids the disks that may get it, the best first
 */
public record MemberMove(
    long stripeId, int position, String fromStorageUuid, List<String> toStorageUuids) {}
