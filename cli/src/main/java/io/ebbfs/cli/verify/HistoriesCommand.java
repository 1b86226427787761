package io.ebbfs.cli.verify;

import io.ebbfs.verify.histories.Histories;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Linearizability of the namespace while namenodes and nodes of their store fail. */
@Command(
    name = "histories",
    description = {
      "Lets stock HDFS clients work on a few shared paths while namenodes and nodes of their store"
          + " are killed and frozen.",
      "A checker decides whether each history of calls and answers is linearizable."
    })
public final class HistoriesCommand implements Callable<Integer> {
  @Mixin private CallsUnderFaults calls;

  @Option(
      names = "--namenodes",
      paramLabel = "N",
      description = "Namenodes on a shared store; 1: one with an embedded store (default: 3).")
  private int namenodes = 3;

  @Override
  public Integer call() throws Exception {
    return Histories.run(calls.options(600, namenodes), System.out) ? 0 : 1;
  }
}
