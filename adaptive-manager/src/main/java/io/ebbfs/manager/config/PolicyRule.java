package io.ebbfs.manager.config;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.manager.economics.Prices;
import java.util.OptionalDouble;

/**
 * One policy: its files, and how their redundancy follows their temperature. Times are
 * milliseconds, sizes are bytes. See {@code docs/configuration.md}.
 *
 * @param family the pair of codes, or a single code that data keeps
 * @param storageBound most stored bytes per logical byte of encoded data; empty for none
 * @param hysteresis hot data becomes cold below threshold / hysteresis
 * @param fillWaitMillis how long blocks wait for further blocks that fill a stripe with them
 * @param waitWhileReadMillis how long after their last write files may stay replicated because they
 *     are read, if readHot is auto
 * @param maxBytesPerRun most logical bytes that are encoded or converted at once; a single larger
 *     stripe or file is allowed
 * @param minServers live servers that the policy asks for
 * @param pace limits of conversions for heat
 * @param prices what storage and waiting readers are worth, if readHot is auto
 * @param releaseWhenWritten whether encoded data of a file that is written again becomes replicas
 * @param convertsClientStriped whether files that their clients have encoded become replicated
 *     files, to be encoded as all others
 */
public record PolicyRule(
    String name,
    FileCriteria files,
    CodeFamily family,
    OptionalDouble storageBound,
    long writeColdAfterMillis,
    ReadHot readHot,
    double hysteresis,
    long minFileBytes,
    long fillWaitMillis,
    long waitWhileReadMillis,
    long maxBytesPerRun,
    int minServers,
    Pace pace,
    Prices prices,
    boolean releaseWhenWritten,
    boolean convertsClientStriped) {
  /** Whether data is encoded once into a single code, hot or cold. */
  public boolean isSingle() {
    return family.isSingle();
  }

  /** The codes for messages: "PC(2x5), PC(6x5)" or "RS(6,3)". */
  public String showCodes() {
    return isSingle() ? family.fast() : family.fast() + ", " + family.compact();
  }

  /** The same policy without {@link #maxBytesPerRun}. */
  public PolicyRule withoutRunLimit() {
    return with(storageBound, Long.MAX_VALUE / 4);
  }

  /** The same policy with another bound. */
  public PolicyRule withStorageBound(OptionalDouble otherBound) {
    return with(otherBound, maxBytesPerRun);
  }

  private PolicyRule with(OptionalDouble otherBound, long otherMaxBytesPerRun) {
    return new PolicyRule(
        name,
        files,
        family,
        otherBound,
        writeColdAfterMillis,
        readHot,
        hysteresis,
        minFileBytes,
        fillWaitMillis,
        waitWhileReadMillis,
        otherMaxBytesPerRun,
        minServers,
        pace,
        prices,
        releaseWhenWritten,
        convertsClientStriped);
  }

  /** Live disks that a stripe of the longest code needs: one for each block. */
  public int minDisks() {
    return Math.max(family.compactCode().size(), family.fastCode().size());
  }
}
