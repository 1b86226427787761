package io.ebbfs.workloads.metadata;

import io.ebbfs.workloads.results.MetadataResults;
import java.util.List;

/**
 * Clients that drive the rows of operations, and for how long.
 *
 * @param client {@link MetadataResults#NATIVE} or {@link MetadataResults#STOCK}
 * @param fewRows only {@link #FEW_ROWS} are measured
 * @param seconds length of a run
 * @param warmUpSeconds how long each row runs, unmeasured, before the first round
 */
public record Load(
    String client, int connections, boolean fewRows, double seconds, double warmUpSeconds) {
  static final List<String> FEW_ROWS = List.of("create", "stat", "spotify");

  List<String> rowsOf(List<String> operations) {
    return fewRows ? operations.stream().filter(FEW_ROWS::contains).toList() : operations;
  }
}
