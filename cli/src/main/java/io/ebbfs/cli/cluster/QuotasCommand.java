package io.ebbfs.cli.cluster;

import io.ebbfs.cli.options.HelpOption;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.protocol.proto.CodingProtos.CheckQuotasRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckQuotasResponseProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RemoteCall;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Has a running namenode check the sums of quotas, and mend them. */
@Command(
    name = "quotas",
    description =
        "Checks the sums of quotas against all files while the namenode serves, and mends them.",
    footer = {
      "",
      "The namenode that leads compares a copy of all rows as they are at one moment. It needs room for",
      "the copy on its disk: a shared store sends all rows, as for a backup.",
      "Exit codes: 0 if all sums are right or mended, 1 if something is left, 2 if the check is refused."
    })
public final class QuotasCommand implements Callable<Integer> {
  private static final long ASK_MILLIS = 500;

  @Mixin private HelpOption help;
  @Mixin private ClusterAddress cluster;

  @Option(names = "--mend", description = "Mends what does not fit, while clients go on.")
  private boolean mend;

  @Override
  public Integer call()
      throws ClusterException, ConfigException, IOException, InterruptedException {
    try (NamenodeClient namenode = cluster.namenodeClient()) {
      long run = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
      CheckQuotasRequestProto start =
          CheckQuotasRequestProto.newBuilder().setStart(run).setMend(mend).build();
      CheckQuotasResponseProto answer = ask(namenode, start);
      while (answer.getRun() == run && !answer.getEnded()) {
        TimeUnit.MILLISECONDS.sleep(ASK_MILLIS);
        answer = ask(namenode, CheckQuotasRequestProto.getDefaultInstance());
      }
      return result(answer, run);
    }
  }

  private static CheckQuotasResponseProto ask(
      NamenodeClient namenode, CheckQuotasRequestProto request) throws IOException {
    return RemoteCall.answerOf(() -> namenode.coding().checkQuotas(null, request));
  }

  private int result(CheckQuotasResponseProto answer, long run) throws IOException {
    if (answer.getRun() != run) {
      throw new IOException(
          "the namenode that checked the quotas does not lead any more: run the command again; what is mended stays mended");
    }
    answer.getFindingsList().forEach(System.out::println);
    long further = answer.getFound() - answer.getFindingsCount();
    if (further > 0) {
      System.out.println("... and " + further + " more, which the log of the namenode names");
    }
    if (answer.hasFailure()) {
      throw new IOException("the check of the quotas has broken off: " + answer.getFailure());
    }
    System.out.printf("%,d inodes compared: %s%n", answer.getInodes(), summary(answer));
    return answer.getFound() == answer.getMended() ? 0 : 1;
  }

  private String summary(CheckQuotasResponseProto answer) {
    if (answer.getFound() == 0) {
      return "the sums of all quotas are right.";
    }
    return mend
        ? "%,d of %,d findings are mended.".formatted(answer.getMended(), answer.getFound())
        : "%,d findings; --mend mends them.".formatted(answer.getFound());
  }
}
