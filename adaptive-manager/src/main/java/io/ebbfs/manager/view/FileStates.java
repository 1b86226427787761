package io.ebbfs.manager.view;

import io.ebbfs.manager.config.PolicyRule;
import java.util.function.LongFunction;

/** Tells the state of a file as far as it depends on neither time nor heat. */
public final class FileStates {
  private FileStates() {}

  /**
   * A file that has to be encoded is WAITING, also if it is too new for that, or if its encoding
   * has failed. So is a file that its client has encoded, and that the policy converts.
   *
   * @param rule the policy of the file; null for none
   * @param stripes gives a stripe by its id, or null
   */
  public static FileState of(FileView file, PolicyRule rule, LongFunction<StripeView> stripes) {
    if (file.underConstruction()) {
      return FileState.UNDER_CONSTRUCTION;
    }
    if (rule == null) {
      return FileState.NO_POLICY;
    }
    if (file.blocks() == 0) {
      return FileState.TOO_SMALL;
    }
    if (file.unencodedBlocks() == 0) {
      return encoded(file, rule, stripes);
    }
    if (file.transitionId() != 0) {
      return FileState.ENCODING;
    }
    if (file.lengthBytes() < rule.minFileBytes()) {
      return FileState.TOO_SMALL;
    }
    if (file.isClientStriped()) {
      return rule.convertsClientStriped() ? FileState.WAITING : FileState.CLIENT_STRIPED;
    }
    return file.pin() == Pin.REPLICAS ? FileState.PINNED : FileState.WAITING;
  }

  private static FileState encoded(
      FileView file, PolicyRule rule, LongFunction<StripeView> stripes) {
    boolean fast = false;
    boolean compact = false;
    for (long id : file.stripeIds()) {
      StripeView stripe = stripes.apply(id);
      if (stripe == null) {
        continue;
      }
      if (stripe.code().equals(rule.family().fast())) {
        fast = true;
      } else if (stripe.code().equals(rule.family().compact())) {
        compact = true;
      } else {
        return FileState.OTHER_CODE;
      }
    }
    if (rule.isSingle()) {
      return FileState.ENCODED;
    }
    return fast && compact ? FileState.MIXED : fast ? FileState.FAST : FileState.COMPACT;
  }
}
