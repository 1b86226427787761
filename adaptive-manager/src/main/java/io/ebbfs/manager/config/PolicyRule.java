package io.ebbfs.manager.config;

import io.ebbfs.coding.CodeFamily;
import java.util.List;
import java.util.OptionalDouble;

/**
 * One policy: which files it applies to and how their redundancy follows their temperature. Times
 * are milliseconds, sizes bytes. See {@code docs/configuration.md}.
 *
 * @param family the pair of codes, or a single one, which nothing is converted from or to
 * @param storageBound most stored bytes per logical byte of encoded data; empty for none
 * @param hysteresis hot data is cold again only below threshold / hysteresis
 * @param fillWaitMillis how long blocks wait for others to fill a stripe with
 * @param maxBytesPerRun logical bytes under conversion at once; one stripe or file may exceed it
 * @param minServers live servers that the policy asks for
 */
public record PolicyRule(
    String name,
    List<PathPattern> paths,
    CodeFamily family,
    OptionalDouble storageBound,
    long writeColdAfterMillis,
    ReadHot readHot,
    double hysteresis,
    long minFileBytes,
    long fillWaitMillis,
    long maxBytesPerRun,
    int minServers) {

  /** The longest match of a path, in literal characters; negative if none of the patterns match. */
  public int match(String path) {
    int longest = -1;
    for (PathPattern pattern : paths) {
      if (pattern.literals() > longest && pattern.matches(path)) {
        longest = pattern.literals();
      }
    }
    return longest;
  }

  /** Whether data is encoded once, however hot it is. */
  public boolean isSingle() {
    return family.isSingle();
  }

  /** The codes as a message names them: "PC(2x5), PC(6x5)" or "RS(6,3)". */
  public String showCodes() {
    return isSingle() ? family.fast() : family.fast() + ", " + family.compact();
  }

  /** Live disks that a stripe of the longest code needs: one for each of its blocks. */
  public int minDisks() {
    return Math.max(family.compactCode().size(), family.fastCode().size());
  }
}
