package io.ebbfs.verify.append;

import io.ebbfs.client.AppendOptions;
import io.ebbfs.client.RecordAppender;
import java.net.URI;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * A writer in a process of its own, so that it can be killed: appends records without an end, and
 * prints the number of each record that is stored. A process that is started again goes on behind
 * the last record that is stored. Arguments: URI, path, number of the writer.
 */
final class AppendingProcess {
  private AppendingProcess() {}

  public static void main(String[] arguments) throws Exception {
    int writer = Integer.parseInt(arguments[2]);
    DistributedFileSystem files =
        (DistributedFileSystem)
            DistributedFileSystem.newInstance(URI.create(arguments[0]), new Configuration());
    RecordAppender appender =
        RecordAppender.open(
            files, new Path(arguments[1]), new UUID(0, writer), AppendOptions.DEFAULT.withLanes(2));
    for (int i = (int) appender.lastStored().orElse(-1) + 1; ; i++) {
      int number = i;
      appender
          .append(new TestRecord(writer, number).bytes())
          .thenRun(() -> System.out.println(number));
    }
  }
}
