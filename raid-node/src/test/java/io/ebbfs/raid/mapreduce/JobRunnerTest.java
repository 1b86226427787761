package io.ebbfs.raid.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.raid.FakeChunks;
import io.ebbfs.raid.FakeNamenode;
import io.ebbfs.raid.config.RaidConfig;
import io.ebbfs.raid.executor.ExecutorResources;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class JobRunnerTest {
  @TempDir Path directory;

  @Test
  void aJobEndsAfterItsLifeAndCountsWhatItsExecutorsDid() throws Exception {
    FakeNamenode namenode = new FakeNamenode();
    for (int i = 0; i < 20; i++) {
      namenode.plan(FakeNamenode.transition(i, TransitionKindProto.ENCODE, i, 1000));
    }
    RaidConfig config = RaidConfig.DEFAULTS;
    try (ExecutorResources resources =
            ExecutorResources.of(config, namenode, new FakeChunks(), () -> {});
        JobRunner runner = new JobRunner(config, directory, "-", ServiceKey.NONE, resources)) {
      JobRunner.End end = runner.run(500);
      while (namenode.commits.size() < 20) {
        end = runner.run(500);
      }
      assertThat(end.id()).startsWith("job_local");
      assertThat(end.failure()).isEmpty();
      long encoded = end.counters().get("ENCODE.committed");
      assertThat(encoded).isPositive();
      assertThat(end.counters()).containsEntry("ENCODE.bytesRead", 1000 * encoded);
    }
  }

  @Test
  void theJarHoldsAllOfOursAndNothingElse() throws Exception {
    Path file = directory.resolve("job.jar");
    JobJar.write(file);
    try (JarFile jar = new JarFile(file.toFile())) {
      List<String> names = jar.stream().map(ZipEntry::getName).toList();
      assertThat(names)
          .allMatch(name -> name.startsWith("io/ebbfs/"))
          .doesNotHaveDuplicates()
          .contains(
              "io/ebbfs/raid/mapreduce/ExecutorMapper.class",
              "io/ebbfs/raid/mapreduce/ExecutorInputFormat$Empty.class",
              "io/ebbfs/protocol/proto/CodingProtos.class",
              "io/ebbfs/coding/code/CodeRegistry.class",
              "io/ebbfs/common/failpoint/FailPoint.class");
    }
  }

  @Test
  void stagingOfJobsThatDoNotRunIsRemoved() throws Exception {
    Path root = Files.createDirectories(directory.resolve("staging"));
    Path left = Files.createDirectories(root.resolve("executors-1-0/user/.staging"));
    Files.writeString(left.resolve("file"), "of an earlier process");
    JobStaging staging =
        new JobStaging(new org.apache.hadoop.fs.Path(root.toUri()), new Configuration());
    org.apache.hadoop.fs.Path job = staging.begin();
    Path running = Path.of(job.toUri());
    Files.createDirectories(running.resolve("user"));
    staging.clean();
    assertThat(root).isDirectoryContaining(running::equals);
    assertThat(left).doesNotExist();
    staging.end(job);
    staging.clean();
    assertThat(root).doesNotExist();
  }
}
