package io.ebbfs.manager.policy;

import io.ebbfs.common.config.Units;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.FileView;

/** Tells how long files have been due for encoding: a file is due once it is write-cold. */
final class EncodingAge {
  private final PolicyRule rule;
  private final long nowMillis;

  EncodingAge(PolicyRule rule, long nowMillis) {
    this.rule = rule;
    this.nowMillis = nowMillis;
  }

  boolean isWriteCold(FileView file) {
    return isDueSince(file, 0);
  }

  /** Whether a file has waited long enough for other files to share stripes with it. */
  boolean hasGathered(FileView file) {
    return isDueSince(file, gatherMillis());
  }

  /** Whether a file has waited for as long as the policy lets it wait to fill a stripe. */
  boolean isOverdue(FileView file) {
    return isDueSince(file, rule.fillWaitMillis());
  }

  /** Whether a hot file has waited twice as long as the policy lets it wait to fill a stripe. */
  boolean isOverdueTwice(FileView file) {
    return isDueSince(file, 2 * rule.fillWaitMillis());
  }

  private boolean isDueSince(FileView file, long millis) {
    long age = nowMillis - file.modifiedMillis();
    return age >= rule.writeColdAfterMillis() + millis;
  }

  /** Half of fillWait, and at most the time to become write-cold: replicas cost space. */
  private long gatherMillis() {
    return Math.min(rule.fillWaitMillis() / 2, rule.writeColdAfterMillis());
  }

  /** At which age {@link #hasGathered} becomes true: "1h 5m". */
  String showGathered() {
    return Units.showMillis(rule.writeColdAfterMillis() + gatherMillis());
  }

  /** At which age {@link #isOverdue} becomes true. */
  String showOverdue() {
    return Units.showMillis(rule.writeColdAfterMillis() + rule.fillWaitMillis());
  }
}
