package io.ebbfs.verify.policy;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.FileCriteria;
import io.ebbfs.manager.config.Pace;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.Prices;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A system that is compared.
 *
 * @param rule its policy; empty for three replicas
 */
record PolicySystem(String name, Optional<PolicyRule> rule) {
  /** Stored bytes per logical byte of encoded data. */
  static final double BOUND = 1.5;

  static final CodeRegistry CODES = CodeRegistry.builtIn();
  static final CodeFamily FAMILY = CODES.familyOf("PC(2x5)").orElseThrow();
  static final String REPLICAS = "3 replicas";
  static final String COMPACT = "always compact";
  static final String FAST = "always fast";
  static final String AUTO = "auto";
  static final String AUTO_UNBOUND = "auto, no bound";

  static final PolicySystem THRESHOLD =
      adaptive("threshold", new ReadHot(ReadHot.Unit.PER_FILE, 10), OptionalDouble.of(BOUND));
  static final PolicySystem AUTO_BOUND = adaptive(AUTO, ReadHot.AUTO, OptionalDouble.of(BOUND));

  /** How long a read file may stay replicated: the default of the manager. */
  static final int WAIT_WHILE_READ_HOURS = 48;

  private static final long HOUR_MILLIS = 3_600_000;

  /** All systems but the oracles. */
  static List<PolicySystem> all() {
    return List.of(
        new PolicySystem(REPLICAS, Optional.empty()),
        single("RS(6,3)", "RS(6,3)"),
        single("RS(10,4)", "RS(10,4)"),
        single("LRC(12,2,2)", "LRC(12,2,2)"),
        single(COMPACT, FAMILY.compact()),
        single(FAST, FAMILY.fast()),
        THRESHOLD,
        AUTO_BOUND,
        adaptive(AUTO_UNBOUND, ReadHot.AUTO, OptionalDouble.empty()));
  }

  static PolicySystem single(String name, String code) {
    return of(name, CodeFamily.single(CODES.byName(code)), ReadHot.NEVER, OptionalDouble.empty());
  }

  private static PolicySystem adaptive(String name, ReadHot readHot, OptionalDouble bound) {
    return of(name, FAMILY, readHot, bound);
  }

  private static PolicySystem of(
      String name, CodeFamily family, ReadHot readHot, OptionalDouble bound) {
    return new PolicySystem(
        name,
        Optional.of(
            new PolicyRule(
                "simulated",
                FileCriteria.below("/"),
                family,
                bound,
                HOUR_MILLIS,
                readHot,
                2,
                0,
                0,
                WAIT_WHILE_READ_HOURS * HOUR_MILLIS,
                Long.MAX_VALUE / 4,
                1,
                Pace.FREE,
                Prices.DEFAULT)));
  }

  boolean isSingle() {
    return rule.isEmpty() || rule.get().isSingle();
  }
}
