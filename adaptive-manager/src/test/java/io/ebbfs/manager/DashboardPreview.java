package io.ebbfs.manager;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.HalfLives;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.config.ManagerOptions;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.heat.OpenEvent;
import io.ebbfs.manager.model.ModelNamenode;
import io.ebbfs.protocol.rpc.SecretFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * Serves the dashboard over the model of the namenode, to look at it while working on it: one
 * minute of life, with a server down and lost blocks. Arguments: the port, the seconds to stay, and
 * how many files are stored: 1400 unless given.
 */
public final class DashboardPreview {
  private static final String POLICIES =
      """
      policies:
        - name: product
          paths: [/demo/product]
          family: product
          storageBound: 1.5
          writeColdAfter: 8s
          readHot: {perMiB: 2}
          fillWait: 2s
        - name: lrc
          paths: [/demo/lrc]
          family: lrc
          storageBound: 1.4
          writeColdAfter: 12s
          readHot: {perMiB: 2}
          fillWait: 2s
      """;

  private DashboardPreview() {}

  public static void main(String[] arguments) throws Exception {
    Path directory = Files.createTempDirectory("preview");
    Files.writeString(directory.resolve("policies.yaml"), POLICIES);
    Path token = directory.resolve("api.token");
    SecretFile.create(token);
    System.out.println("The API token is in " + token);
    ModelNamenode namenode = new ModelNamenode();
    Random random = new Random(7);
    List<OpenEvent> opens = new ArrayList<>();
    long now = System.currentTimeMillis();
    int files = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 1_400;
    for (int i = 0; i < files; i++) {
      String path = "/demo/" + (i % 2 == 0 ? "product" : "lrc") + "/file-" + i;
      long id =
          namenode.addFile(path, now + random.nextInt(8_000), 20_000 + random.nextInt(1 << 20)).id;
      for (int r = random.nextInt(6) == 0 ? 5 + random.nextInt(40) : 0; r > 0; r--) {
        opens.add(new OpenEvent(id, now));
      }
    }
    if (files > 0) {
      namenode.addFile("/tmp/scratch", now, 5_000_000);
    }
    try (ManagerStore store = ManagerStore.open(directory.resolve("data"))) {
      store.count(
          opens, new ManagerStore.Position("ebbfs.opens", 0, 1), new HalfLives(60_000, 60_000));
    }
    ManagerConfig calm = ManagerConfig.defaults();
    ManagerConfig config =
        new ManagerConfig(
            new ManagerConfig.Heat("ebbfs.opens", 60_000, 60_000, 10_000, 0.01),
            new ManagerConfig.Schedule(2_000, 1_000, 3_600_000, 1_000),
            calm.limits(),
            calm.startup());
    Manager manager =
        new Manager(
            new ManagerOptions(
                directory,
                directory.resolve("data"),
                "127.0.0.1:8020",
                "127.0.0.1:1",
                "127.0.0.1",
                Integer.parseInt(arguments[0]),
                Optional.of(token)),
            config,
            CodeRegistry.builtIn(),
            () -> namenode,
            Clock.systemUTC());
    manager.start();
    int seconds = Integer.parseInt(arguments[1]);
    for (int second = 0; second < seconds; second++) {
      live(namenode, random, second);
      Thread.sleep(1_000);
    }
    manager.close();
  }

  private static void live(ModelNamenode namenode, Random random, int second) {
    namenode.nowMillis = System.currentTimeMillis();
    int ends = 4;
    for (long id : namenode.activeIds()) {
      if (ends-- > 0) {
        if (random.nextInt(25) == 0) {
          namenode.fail(id, "combine at server-3 timed out after 300 s");
        } else {
          namenode.complete(id);
        }
      } else if (ends > -5) {
        namenode.run(id);
      }
    }
    namenode.deadServer = second > 30 ? 4 : -1;
    namenode.emptyServer = 7;
    namenode.failedDisk = second > 20;
    namenode.stripes.values().forEach(s -> s.lost = second > 30 && s.id % 9 == 0);
  }
}
