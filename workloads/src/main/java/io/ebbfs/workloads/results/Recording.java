package io.ebbfs.workloads.results;

import java.util.List;
import java.util.Map;

/**
 * What happened to the data of a cluster, step by step, and the blocks that were moved for it: all
 * that a simulation of the same steps needs, and what the simulation is compared with. All files
 * have whole blocks. Immutable.
 *
 * @param stepMillis length of a step
 * @param countedMillis for how long the manager had counted reads when the first step began
 * @param blockBytes of each block
 * @param heatMillis a read counts half for a threshold after this time
 * @param memoryMillis a read counts half for prices after this time
 * @param policies the text of policies.yaml
 * @param files all files; opens name a file by its index
 * @param steps in the order of time
 * @param moves of all steps together
 */
public record Recording(
    long stepMillis,
    long countedMillis,
    long blockBytes,
    long heatMillis,
    long memoryMillis,
    String policies,
    List<File> files,
    List<Step> steps,
    Moves moves) {
  public Recording {
    files = List.copyOf(files);
    steps = List.copyOf(steps);
  }

  /**
   * A file.
   *
   * @param writtenMillis when it was written, after the begin of the first step; below zero, since
   *     files are written before
   */
  public record File(String path, int blocks, long writtenMillis) {}

  /**
   * A step.
   *
   * @param opens by the index of the file; files that were not opened are left out
   * @param lost blocks of stripes that were lost and rebuilt, as a share of all blocks of stripes;
   *     they count in the step in which their repair was planned
   * @param absent share of the data blocks in stripes whose servers were away in the step
   * @param stored bytes per logical byte, replicas included
   */
  public record Step(Map<Integer, Integer> opens, double lost, double absent, double stored) {
    public Step {
      opens = Map.copyOf(opens);
    }
  }

  /**
   * Blocks that were read and written. Copies of replicas are not counted.
   *
   * @param encode by encodings of replicated data
   * @param convert by conversions between two codes, and by rewrites of stripes
   * @param repair by repairs of stripes
   * @param degraded blocks that were read to decode blocks for readers
   */
  public record Moves(long encode, long convert, long repair, long degraded) {}
}
