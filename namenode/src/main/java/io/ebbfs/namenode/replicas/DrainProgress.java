package io.ebbfs.namenode.replicas;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * How far the drain of a server is, as of the last walk over its blocks.
 *
 * @param isCounted whether a walk has ended since this process leads; until then the numbers are
 *     those of the part that was walked
 * @param blocks good replicas on the server, and replicas that clients write there
 * @param blocksLeft of these, the blocks for which the server is still needed
 * @param bytesLeft the bytes of these blocks
 * @param onlyHere the blocks left that no other server has
 * @param openLeft the blocks left that a client still writes
 * @param bytesPerSecond how fast the bytes left became fewer lately; 0 if they did not
 * @param secondsLeft at this speed; empty if the speed is not known
 * @param stuck names a block that cannot leave now, with the reason and a remedy; empty if none is
 *     known
 */
public record DrainProgress(
    boolean isCounted,
    long blocks,
    long blocksLeft,
    long bytesLeft,
    long onlyHere,
    long openLeft,
    long bytesPerSecond,
    OptionalLong secondsLeft,
    Optional<String> stuck) {}
