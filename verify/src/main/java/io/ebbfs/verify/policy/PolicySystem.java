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
 * @param memory how it forgets reads
 */
record PolicySystem(String name, Optional<PolicyRule> rule, Memory memory) {
  /** Stored bytes per logical byte of encoded data. */
  static final double BOUND = 1.5;

  /** The same for the pairs of LRC and of convertible Reed-Solomon codes. */
  static final double LOWER_BOUND = 1.4;

  static final CodeRegistry CODES = CodeRegistry.builtIn();
  static final CodeFamily FAMILY = CODES.familyOf("PC(2x5)").orElseThrow();
  static final String REPLICAS = "3 replicas";
  static final String COMPACT = "always compact";
  static final String FAST = "always fast";
  static final String AUTO = "auto";
  static final String AUTO_UNBOUND = "auto, no bound";

  /** The waits of readers have no price, as in the goals. */
  static final String AUTO_WAITS_FREE = "auto, waits free";

  static final String RS_PAIR = "auto, RS pair";
  static final String RS_FAST = "RS(6,3)";

  static final PolicySystem THRESHOLD = threshold("threshold", 10, Memory.USUAL);
  static final PolicySystem AUTO_BOUND = auto(AUTO, FAMILY, BOUND);
  static final PolicySystem AUTO_RS_PAIR = auto(RS_PAIR, CODES.family("rs"), LOWER_BOUND);

  /** How long a read file may stay replicated: the default of the manager. */
  static final int WAIT_WHILE_READ_HOURS = 48;

  private static final long HOUR_MILLIS = 3_600_000;
  private static final Prices WAITS_FREE = new Prices(Prices.DEFAULT.storage(), 0);

  /**
   * After which time a read counts half.
   *
   * @param heatHours for a threshold
   * @param days for prices
   */
  record Memory(double heatHours, double days) {
    /** The defaults of the manager. */
    static final Memory USUAL = new Memory(1, 7);
  }

  /** All systems but the oracles. */
  static List<PolicySystem> all() {
    return List.of(
        new PolicySystem(REPLICAS, Optional.empty(), Memory.USUAL),
        single(RS_FAST, RS_FAST),
        single("RS(10,4)", "RS(10,4)"),
        single("LRC(12,2,2)", "LRC(12,2,2)"),
        single(COMPACT, FAMILY.compact()),
        single(FAST, FAMILY.fast()),
        THRESHOLD,
        AUTO_BOUND,
        auto(AUTO_WAITS_FREE, FAMILY, OptionalDouble.of(BOUND), WAITS_FREE),
        auto(AUTO_UNBOUND, FAMILY, OptionalDouble.empty(), Prices.DEFAULT),
        auto("auto, LRC pair", CODES.family("lrc"), LOWER_BOUND),
        AUTO_RS_PAIR);
  }

  /** The policy that converts at so many decayed opens of a file. */
  static PolicySystem threshold(String name, double opens, Memory memory) {
    ReadHot hot = new ReadHot(ReadHot.Unit.PER_FILE, opens);
    return of(name, FAMILY, hot, OptionalDouble.of(BOUND), Prices.DEFAULT, memory);
  }

  private static PolicySystem auto(String name, CodeFamily family, double bound) {
    return auto(name, family, OptionalDouble.of(bound), Prices.DEFAULT);
  }

  private static PolicySystem auto(
      String name, CodeFamily family, OptionalDouble bound, Prices prices) {
    return of(name, family, ReadHot.AUTO, bound, prices, Memory.USUAL);
  }

  /** The same system with another memory. */
  PolicySystem with(String otherName, Memory other) {
    return new PolicySystem(otherName, rule, other);
  }

  static PolicySystem single(String name, String code) {
    CodeFamily family = CodeFamily.single(CODES.byName(code));
    return of(name, family, ReadHot.NEVER, OptionalDouble.empty(), Prices.DEFAULT, Memory.USUAL);
  }

  private static PolicySystem of(
      String name,
      CodeFamily family,
      ReadHot readHot,
      OptionalDouble bound,
      Prices prices,
      Memory memory) {
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
                prices,
                false,
                false)),
        memory);
  }

  boolean isSingle() {
    return rule.isEmpty() || rule.get().isSingle();
  }
}
