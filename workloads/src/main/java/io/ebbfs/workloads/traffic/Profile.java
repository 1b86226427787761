package io.ebbfs.workloads.traffic;

import java.util.List;
import java.util.Locale;

/**
 * The known properties of a workload of the HACFS evaluation: Facebook (FB) or a customer of
 * Cloudera (CC1 to CC4). A file is hot in an epoch if it is read more often than the mean file.
 *
 * @param name "CC1"
 * @param hotReads the share of the reads that goes to hot files
 * @param hotReadsStated whether the paper states this share; else it is derived from its figures
 * @param coldFiles the share of the files that are cold in an epoch
 * @param coldFilesStated whether the paper states this share
 * @param hotFileScale how much larger a hot file is than a cold one
 * @param drift the share of the hot files that are replaced in the next epoch
 */
public record Profile(
    String name,
    Range hotReads,
    boolean hotReadsStated,
    Range coldFiles,
    boolean coldFilesStated,
    double hotFileScale,
    double drift) {
  /*
   * Stated (section 5): 85-90% of the reads of CC1, CC4 and FB go to hot data; 85-95% of the files
   * of CC1, CC2 and FB are cold; CC2, CC3 and CC4 hold more hot data and convert most; without a
   * bound CC3 and CC4 would keep more data in the fast code than the bound allows (25% of the
   * bytes). The rest is derived: CC2 has few hot files but much hot data, so its hot files are
   * large; a workload that converts much has a hot set that moves.
   */
  private static final List<Profile> ALL =
      List.of(
          new Profile("CC1", new Range(.85, .90), true, new Range(.85, .95), true, 1, .05),
          new Profile("CC2", new Range(.72, .82), false, new Range(.85, .95), true, 3, .30),
          new Profile("CC3", new Range(.65, .75), false, new Range(.60, .70), false, 1, .30),
          new Profile("CC4", new Range(.85, .90), true, new Range(.60, .70), false, 1, .30),
          new Profile("FB", new Range(.85, .90), true, new Range(.85, .95), true, 1, .05));

  /** All five profiles. */
  public static List<Profile> all() {
    return ALL;
  }

  /**
   * The profile of a name, whose case does not matter.
   *
   * @throws IllegalArgumentException if there is none; the message lists all names
   */
  public static Profile of(String name) {
    return ALL.stream()
        .filter(profile -> profile.name.equals(name.toUpperCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no workload '%s': choose one of %s"
                        .formatted(name, ALL.stream().map(Profile::name).toList())));
  }
}
