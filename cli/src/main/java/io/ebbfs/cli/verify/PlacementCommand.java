package io.ebbfs.cli.verify;

import io.ebbfs.verify.placement.PlacementTable;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The placement of stripes on clusters of many sizes. */
@Command(
    name = "placement",
    description = "Places stripes on 6 to 40 servers and shows their balance and tolerance.")
final class PlacementCommand implements Callable<Integer> {
  @Mixin private CodesAndSeed words;

  @Override
  public Integer call() {
    PlacementTable.print(words.codes(), words.seed(), System.out);
    return 0;
  }
}
