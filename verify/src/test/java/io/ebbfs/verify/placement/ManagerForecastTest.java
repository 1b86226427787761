package io.ebbfs.verify.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.tolerance.MinimumServers;
import io.ebbfs.manager.bound.PackingForecast;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.Pin;
import io.ebbfs.namenode.placement.Packing;
import io.ebbfs.namenode.placement.Placement;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.PlacementRefusal;
import io.ebbfs.namenode.placement.PlacementResult;
import io.ebbfs.namenode.placement.StripeBlock;
import io.ebbfs.namenode.placement.StripeGroup;
import io.ebbfs.namenode.placement.search.StripePlacer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The manager reckons with the stripes and the servers that the namenode comes to need. */
class ManagerForecastTest {
  private static final long BLOCK = 1 << 20;
  private static final long PLENTY = 1L << 40;

  @Provide
  Arbitrary<ErasureCode> codes() {
    return Arbitraries.of(Codes.builtIn());
  }

  /** Files of up to 40 blocks; the last block of a file may be short. */
  @Provide
  Arbitrary<List<FileView>> files() {
    Arbitrary<Integer> blocks = Arbitraries.integers().between(1, 40);
    Arbitrary<Long> last = Arbitraries.longs().between(1, BLOCK);
    return Combinators.combine(blocks, last)
        .as((n, bytes) -> (n - 1) * BLOCK + bytes)
        .list()
        .ofMaxSize(30)
        .map(ManagerForecastTest::files);
  }

  private static List<FileView> files(List<Long> lengths) {
    List<FileView> files = new ArrayList<>();
    for (long length : lengths) {
      int blocks = (int) ((length + BLOCK - 1) / BLOCK);
      files.add(
          new FileView(
              files.size() + 1,
              "/f" + files.size(),
              "o",
              "g",
              length,
              0,
              false,
              blocks,
              0,
              3 * length,
              length,
              3 * length,
              List.of(),
              0,
              3,
              Pin.NONE,
              0));
    }
    return files;
  }

  private static List<StripeBlock> blocks(List<FileView> files, Random random) {
    List<StripeBlock> blocks = new ArrayList<>();
    for (FileView file : files) {
      for (int i = 0; i < file.blocks(); i++) {
        List<String> replicas = List.of("d" + random.nextInt(9), "d" + (9 + random.nextInt(9)));
        blocks.add(
            new StripeBlock(blocks.size(), file.blockLengthBytes(i), file.id(), i, replicas));
      }
    }
    return blocks;
  }

  @Property(tries = 300)
  void theForecastIsWhatTheNamenodePacks(
      @ForAll("codes") ErasureCode code,
      @ForAll("files") List<FileView> files,
      @ForAll boolean single,
      @ForAll Random random) {
    Optional<ErasureCode> mergesInto =
        single ? Optional.empty() : CodeRegistry.builtIn().mergesInto(code);
    Packing.Report report =
        Packing.pack(code, mergesInto, blocks(files, random), Double.MAX_VALUE).report();
    PackingForecast forecast = PackingForecast.of(files, code);
    assertThat(forecast.parityBytes()).isEqualTo(report.parityBytes());
    assertThat(forecast.dataBytes()).isEqualTo(report.dataBytes());
  }

  @Property(tries = 60)
  void noPlacementStoresMoreThanTheForecastHasRoomFor(
      @ForAll("codes") ErasureCode code, @ForAll Random random) {
    List<Long> lengths = new ArrayList<>();
    for (int i = 0; i < code.dataCount() * CodeRegistry.builtIn().stripesPerGroup(code); i++) {
      lengths.add(BLOCK - random.nextInt((int) BLOCK / 10));
    }
    List<FileView> files = files(lengths);
    List<PlacementDisk> disks = disks(12, 6);
    long parity = 0;
    for (StripeGroup group :
        Packing.pack(
                code,
                CodeRegistry.builtIn().mergesInto(code),
                blocks(files, random),
                Double.MAX_VALUE)
            .groups()) {
      PlacementResult result = StripePlacer.place(group, disks, random.nextLong());
      assertThat(result).isInstanceOf(Placement.class);
      for (SortedMap<Integer, StripeBlock> stripe : ((Placement) result).stripes()) {
        for (int p = code.dataCount(); p < code.size(); p++) {
          parity +=
              code.lengthBytes(p, d -> stripe.containsKey(d) ? stripe.get(d).lengthBytes() : 0);
        }
      }
    }
    assertThat(parity).isLessThanOrEqualTo(PackingForecast.of(files, code).mostParityBytes());
  }

  @Example
  void theServersThatAPolicyAsksForSufficeForPlacementAndNoFewerDo() throws Exception {
    Path directory = Files.createTempDirectory("policies");
    for (ErasureCode code : Codes.builtIn()) {
      Files.writeString(
          directory.resolve(PolicySet.FILE),
          "policies: [{name: p, paths: [/p], code: '%s'}]\n".formatted(code.name()));
      int asked =
          PolicySet.load(directory, CodeRegistry.builtIn()).named("p").orElseThrow().minServers();
      assertThat(asked).as(code.name()).isEqualTo(MinimumServers.of(code));
      PlacementResult enough =
          StripePlacer.place(fullStripe(code), disks(asked, code.size()), asked);
      assertThat(enough).as("%s on %d servers", code, asked).isInstanceOf(Placement.class);
      assertThat(((Placement) enough).survivesAnyServer()).isTrue();
      assertThat(StripePlacer.place(fullStripe(code), disks(asked - 1, code.size()), asked))
          .as("%s on %d servers", code, asked - 1)
          .isInstanceOf(PlacementRefusal.class);
    }
  }

  private static StripeGroup fullStripe(ErasureCode code) {
    SortedMap<Integer, StripeBlock> stripe = new TreeMap<>();
    for (int d = 0; d < code.dataCount(); d++) {
      stripe.put(d, new StripeBlock(d, BLOCK, 1, d, List.of()));
    }
    return new StripeGroup(code, List.of(stripe), Optional.empty());
  }

  private static List<PlacementDisk> disks(int servers, int disksOfServer) {
    List<PlacementDisk> disks = new ArrayList<>();
    for (int server = 0; server < servers; server++) {
      for (int disk = 0; disk < disksOfServer; disk++) {
        disks.add(
            new PlacementDisk(
                "disk-%d-%d".formatted(server, disk), "server-" + server, "/r", PLENTY, PLENTY, 0));
      }
    }
    return disks;
  }
}
