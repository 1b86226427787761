package io.ebbfs.namenode.tasks.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.placement.Placement;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.StripeBlock;
import io.ebbfs.namenode.placement.StripeGroup;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.fs.StorageType;
import org.junit.jupiter.api.Test;

/** New blocks of stripes go around disks that are busy, full or err, unless nothing is left. */
class TargetDiskChooserTest {
  private static final ErasureCode CODE = Codes.byName("RS(10,4)");
  private static final long BLOCK_BYTES = 1 << 20;
  private static final long CAPACITY_BYTES = 10_000 * BLOCK_BYTES;

  /** Servers with one disk each. */
  private static final class Cluster implements ClusterView {
    private final Map<String, Server> servers = new TreeMap<>();

    private void add(int number, double used) {
      add(number, used, 0, 0, 0);
    }

    private void add(int number, double used, int transfers, double queued, double errors) {
      String uuid = "server-%02d".formatted(number);
      long free = (long) (CAPACITY_BYTES * (1 - used));
      Disk disk =
          new Disk(
              "disk-%02d".formatted(number),
              number,
              uuid,
              false,
              CAPACITY_BYTES,
              CAPACITY_BYTES - free,
              free,
              StorageType.DISK,
              queued,
              errors);
      servers.put(
          uuid,
          new Server(uuid, uuid, "127.0.0.1", 1, 2, 3, "/rack", true, 0, transfers, List.of(disk)));
    }

    @Override
    public List<Server> liveServers() {
      return List.copyOf(servers.values());
    }

    @Override
    public Optional<Server> server(String serverUuid) {
      return Optional.ofNullable(servers.get(serverUuid));
    }

    @Override
    public Optional<Disk> disk(String storageUuid) {
      return servers.values().stream()
          .flatMap(server -> server.disks().stream())
          .filter(disk -> disk.storageUuid().equals(storageUuid))
          .findFirst();
    }

    @Override
    public boolean inSafeMode() {
      return false;
    }
  }

  private final Cluster cluster = new Cluster();
  private final TargetDiskChooser chooser =
      new TargetDiskChooser(CodeRegistry.builtIn(), cluster, new Random(1));

  /** The disk for the last block of a stripe, whose other blocks are on the first servers. */
  private String rebuilt(Set<String> excludedServerUuids) throws NotPlannableException {
    Map<Integer, PlacementDisk> members = new TreeMap<>();
    for (int position = 0; position < CODE.size() - 1; position++) {
      members.put(position, chooser.disk("disk-%02d".formatted(position)));
    }
    int missing = CODE.size() - 1;
    return chooser
        .placeMissing(
            CODE,
            List.of(members),
            List.of(Set.of(missing)),
            BLOCK_BYTES,
            excludedServerUuids,
            false)
        .disk(0, missing)
        .storageUuid();
  }

  /** All disks but the fullest good one look better by their space. */
  @Test
  void aRebuiltBlockGoesToAGoodDiskOrElseToTheLeastBad() throws Exception {
    for (int server = 0; server < CODE.size() - 1; server++) {
      cluster.add(server, 0.5);
    }
    cluster.add(13, 0.1, 200, 0, 0);
    cluster.add(14, 0.96);
    cluster.add(15, 0.1, 0, 0, 1);
    cluster.add(16, 0.94);
    Set<String> excluded = new HashSet<>();
    for (int expected : List.of(16, 13, 14, 15)) {
      for (int i = 0; i < 10; i++) {
        assertThat(rebuilt(excluded)).isEqualTo("disk-%02d".formatted(expected));
      }
      excluded.add("server-%02d".formatted(expected));
    }
  }

  @Test
  void paritiesGoToGoodDisksAndReplicasStayWhereTheyAre() throws Exception {
    SortedMap<Integer, StripeBlock> data = new TreeMap<>();
    for (int position = 0; position < CODE.dataCount(); position++) {
      cluster.add(position, 0.5, 0, 0, position == 3 ? 5 : 0);
      data.put(
          position,
          new StripeBlock(
              position, BLOCK_BYTES, 1, position, List.of("disk-%02d".formatted(position))));
    }
    for (int server = 10; server < 15; server++) {
      cluster.add(server, 0.94);
    }
    cluster.add(15, 0.1, 0, 100, 0);
    cluster.add(16, 0.1, 0, 0, 1);
    for (int i = 0; i < 10; i++) {
      Placement placement =
          chooser.placeNew(new StripeGroup(CODE, List.of(data), Optional.empty()));
      assertThat(placement.moves()).isEmpty();
      for (int position = CODE.dataCount(); position < CODE.size(); position++) {
        assertThat(placement.disk(0, position).storageUuid()).isBetween("disk-10", "disk-14");
      }
    }
  }
}
