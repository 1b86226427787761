package io.ebbfs.manager.policy;

import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.StripeView;
import java.util.Collection;
import java.util.Optional;

/**
 * Tells how hot files and stripes are, and what that means for their code: by a fixed threshold, or
 * by what a conversion earns and costs.
 */
interface Temperature {
  /** The temperature that a policy asks for. */
  static Temperature of(PolicyView view) {
    return new PinnedTemperature(
        view.rule().readHot().unit() == ReadHot.Unit.AUTO
            ? new PricedTemperature(view)
            : new ThresholdTemperature(view));
  }

  double ofFile(FileView file);

  /** The temperature of stripes that convert together. */
  double ofStripes(Collection<StripeView> stripes);

  /** Whether a file that is encoded for the first time goes into the fast code. */
  boolean isHot(FileView file);

  /**
   * What the fast code earns and costs, beside the compact one, for files that are encoded for the
   * first time; empty if that is not weighed for any of them.
   */
  Optional<String> sidesOfFast(Collection<FileView> files);

  /**
   * Why a write-cold file is worth more as replicas than in the compact code for now; empty if not.
   */
  Optional<String> waitsReplicated(FileView file);

  /**
   * Why stripes are converted.
   *
   * @param benefit what the conversion earns less what it costs, in block moves per block. A
   *     threshold knows no costs: there, all conversions to fast have more benefit than those to
   *     compact
   */
  record Gain(double benefit, String why) {}

  /**
   * Why fast stripes become compact; empty if they stay.
   *
   * @param heat their temperature
   */
  Optional<Gain> toCompact(Collection<StripeView> stripes, double heat);

  /** Why a compact stripe becomes fast if there is room; empty if it stays. */
  Optional<Gain> toFast(StripeView stripe, double heat);

  /**
   * Why fast stripes make room for a hotter compact stripe; empty if they do not.
   *
   * @param heat of the compact stripe
   * @param colder the mean of the fast stripes
   * @param colderPart their bytes for each byte of the compact stripe
   */
  Optional<String> whySwap(StripeView hotter, double heat, double colder, double colderPart);

  /** Whether fast data may make room for compact data at all. */
  boolean mayYield(double colder, double hotter);

  /** "3.2 reads/MiB". */
  String show(double value);

  /**
   * What the temperature of an encoded file means for its code: "3.2 reads/MiB (hot from 0.5
   * reads/MiB)".
   *
   * @param stripes of the file
   * @param compact whether all of them are in the compact code
   */
  String explain(FileView file, Collection<StripeView> stripes, boolean compact);

  /** From where on data is hot: "hot from 0.5 reads/MiB". */
  String showHot();
}
