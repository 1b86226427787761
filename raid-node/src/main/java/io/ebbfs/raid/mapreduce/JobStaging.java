package io.ebbfs.raid.mapreduce;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TypeConverter;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory in which the jobs of one raid-node put their files for YARN. Each job has a
 * directory of its own there. What an earlier process of the raid-node has left behind, files and
 * running applications, is removed with the first {@link #clean}. Thread-safe.
 */
final class JobStaging {
  private static final Logger LOG = LoggerFactory.getLogger(JobStaging.class);
  private static final String JOB = "job_";

  private final Path root;
  private final Configuration conf;

  /** The names of the directories of running jobs. */
  private final Set<String> running = new HashSet<>();

  private int jobs;

  /**
   * A staging directory.
   *
   * @param root of this raid-node alone, with its file system; need not exist
   * @param conf of file systems and YARN
   */
  JobStaging(Path root, Configuration conf) {
    this.root = root;
    this.conf = conf;
  }

  /** The directory of a new job. It is kept until {@link #end}. */
  synchronized Path begin() {
    Path directory = new Path(root, "executors-" + System.currentTimeMillis() + "-" + jobs++);
    running.add(directory.getName());
    return directory;
  }

  /** The directory of a job is of no more use. The next {@link #clean} removes it. */
  synchronized void end(Path directory) {
    running.remove(directory.getName());
  }

  /** Removes all directories but those of running jobs, and first kills their applications. */
  synchronized void clean() throws IOException {
    FileSystem files = root.getFileSystem(conf);
    if (!files.exists(root)) {
      return;
    }
    for (FileStatus directory : files.listStatus(root)) {
      if (!running.contains(directory.getPath().getName())) {
        killBelow(files, directory.getPath());
        files.delete(directory.getPath(), true);
      }
    }
    if (running.isEmpty()) {
      files.delete(root, true);
    }
  }

  /** Kills the applications whose files are still there: USER/.staging/job_... */
  private void killBelow(FileSystem files, Path directory) throws IOException {
    FileStatus[] left = files.globStatus(new Path(directory, "*/.staging/" + JOB + "*"));
    if (left == null || left.length == 0) {
      return;
    }
    try (YarnClient yarn = YarnClient.createYarnClient()) {
      yarn.init(conf);
      yarn.start();
      for (FileStatus job : left) {
        LOG.info("killing {}, which an earlier raid-node has left behind", job.getPath().getName());
        kill(yarn, JobID.forName(job.getPath().getName()));
      }
    } catch (YarnException e) {
      throw new IOException("killing the jobs of " + directory + " failed: " + e.getMessage(), e);
    }
  }

  private static void kill(YarnClient yarn, JobID job) throws IOException, YarnException {
    try {
      yarn.killApplication(TypeConverter.toYarn(job).getAppId());
    } catch (ApplicationNotFoundException e) {
      LOG.debug("{} has ended long ago", job);
    }
  }
}
