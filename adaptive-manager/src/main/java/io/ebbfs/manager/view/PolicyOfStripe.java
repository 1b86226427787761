package io.ebbfs.manager.view;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongFunction;

/** Finds the policy of a stripe. */
public final class PolicyOfStripe {
  private PolicyOfStripe() {}

  /**
   * A stripe belongs to the policy that encoded it. If there is no such policy any more, the stripe
   * belongs to the policy of the first of its files that has one.
   *
   * @param ruleOfFile gives the policy of a file by the file's id, or null
   */
  public static Optional<PolicyRule> find(
      PolicySet policies, StripeView stripe, LongFunction<PolicyRule> ruleOfFile) {
    return policies
        .named(stripe.policy())
        .or(
            () ->
                stripe.members().stream()
                    .filter(member -> member.isOwnedByFile(stripe.id()))
                    .map(member -> ruleOfFile.apply(member.ownerId()))
                    .filter(Objects::nonNull)
                    .findFirst());
  }
}
