package io.ebbfs.cli.verify;

import io.ebbfs.verify.placement.PackingTable;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The cost of packing small files. */
@Command(
    name = "packing",
    description = "Packs 10,000 small files into stripes and shows the overhead.")
final class PackingCommand implements Callable<Integer> {
  @Mixin private CodesAndSeed words;

  @Override
  public Integer call() {
    PackingTable.print(words.codes(), words.seed(), System.out);
    return 0;
  }
}
