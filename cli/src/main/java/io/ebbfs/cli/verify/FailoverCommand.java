package io.ebbfs.cli.verify;

import io.ebbfs.verify.histories.Failover;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** How long clients wait when the namenode that serves is killed. */
@Command(
    name = "failover",
    description = {
      "Lets 64 stock HDFS clients call three namenodes on a shared store, and kills the one that"
          + " serves, again and again.",
      "The longest call of a client is the gap that it sees; no error may reach a client."
    })
public final class FailoverCommand implements Callable<Integer> {
  @Mixin private CallsUnderFaults calls;

  @Override
  public Integer call() throws Exception {
    return Failover.run(calls.options(60, 3), System.out) ? 0 : 1;
  }
}
