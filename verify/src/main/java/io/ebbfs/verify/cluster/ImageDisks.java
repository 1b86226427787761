package io.ebbfs.verify.cluster;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Gives each disk of a cluster a file system of its own, which can be filled, made read-only, or
 * made to fail every access. Each file system is ext4 on a file that is mounted through a loop
 * device. Needs root. Not thread-safe.
 */
public final class ImageDisks implements AutoCloseable {
  private static final String FILLER = "filler";
  private static final long UNMOUNT_MILLIS = 20_000;

  /** The ioctl EXT4_IOC_SHUTDOWN: all accesses fail from then on. Perl is part of every Debian. */
  private static final String SHUTDOWN =
      "open(F, '<', $ARGV[0]) or die $!; my $how = pack('L', 0);"
          + " ioctl(F, 0x8004587d, $how) or die $!";

  private final LocalCluster cluster;
  private final long imageBytes;

  private ImageDisks(LocalCluster cluster, long imageBytes) {
    this.cluster = cluster;
    this.imageBytes = imageBytes;
  }

  /**
   * Makes and mounts the file systems of a cluster that was not started yet.
   *
   * @param imageBytes of each; the files are sparse
   */
  public static ImageDisks mount(LocalCluster cluster, long imageBytes)
      throws ClusterException, InterruptedException {
    ImageDisks disks = new ImageDisks(cluster, imageBytes);
    String root = cluster.directory().toString();
    // Processes in network namespaces have mounts of their own. Only in a shared mount do they
    // see what is mounted and unmounted later.
    Command.run("mount", "--bind", root, root);
    Command.run("mount", "--make-shared", root);
    for (int server = 0; server < cluster.layout().servers(); server++) {
      for (int disk = 0; disk < cluster.layout().disks(); disk++) {
        disks.create(server, disk);
      }
    }
    return disks;
  }

  private void create(int server, int disk) throws ClusterException, InterruptedException {
    Path image = image(server, disk);
    try {
      Files.createDirectories(image.getParent());
      Files.createDirectories(cluster.diskDirectory(server, disk));
      try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
        file.setLength(imageBytes);
      }
    } catch (IOException e) {
      throw new ClusterException("%s: %s".formatted(image, e), e);
    }
    Command.run("mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=1", image.toString());
    mount(server, disk);
  }

  private Path image(int server, int disk) {
    return cluster.directory().resolve("images/server-%02d-disk-%d".formatted(server, disk));
  }

  private void mount(int server, int disk) throws ClusterException, InterruptedException {
    String directory = cluster.diskDirectory(server, disk).toString();
    Command.run("mount", "-o", "loop,noatime", image(server, disk).toString(), directory);
  }

  // ---- faults -----------------------------------------------------------------------------------

  /** Leaves no free byte. */
  public void fill(int server, int disk) throws ClusterException, InterruptedException {
    Path directory = cluster.diskDirectory(server, disk);
    Path filler = directory.resolve(FILLER);
    try {
      long free = Files.getFileStore(directory).getUsableSpace() - (1 << 20);
      if (free > 0) {
        allocate(filler, free);
      }
      try (OutputStream rest = Files.newOutputStream(directory.resolve(FILLER + "-rest"))) {
        byte[] zeros = new byte[4096];
        while (true) {
          rest.write(zeros);
        }
      }
    } catch (IOException e) {
      // No space is left: this was the aim.
      return;
    }
  }

  /** Fast, but fails if a client takes some of the bytes meanwhile; then zeros fill the disk. */
  private static void allocate(Path filler, long bytes) throws InterruptedException {
    try {
      Command.run("fallocate", "-l", Long.toString(bytes), filler.toString());
    } catch (ClusterException e) {
      System.out.println("the rest is filled with zeros: " + e.getMessage());
    }
  }

  /** Takes back what {@link #fill} did. */
  public void empty(int server, int disk) throws ClusterException {
    Path directory = cluster.diskDirectory(server, disk);
    try {
      Files.deleteIfExists(directory.resolve(FILLER));
      Files.deleteIfExists(directory.resolve(FILLER + "-rest"));
    } catch (IOException e) {
      throw new ClusterException("%s: %s".formatted(directory, e), e);
    }
  }

  /** Lets every write fail from now on, as ext4 does after an error. Unsynced changes are lost. */
  public void makeReadOnly(int server, int disk) throws ClusterException, InterruptedException {
    String directory = cluster.diskDirectory(server, disk).toString();
    Command.run("mount", "-o", "remount,abort", directory);
  }

  /** Lets every access fail from now on. */
  public void makeFail(int server, int disk) throws ClusterException, InterruptedException {
    Command.run("perl", "-e", SHUTDOWN, cluster.diskDirectory(server, disk).toString());
  }

  /** Checks and mounts a read-only or failing disk again. Its server must not run. */
  public void repair(int server, int disk) throws ClusterException, InterruptedException {
    unmount(server, disk);
    // 1: errors were corrected.
    Command.run(1, "e2fsck", "-fy", image(server, disk).toString());
    mount(server, disk);
  }

  /** Waits until no process and no namespace uses the file system any more. */
  private void unmount(int server, int disk) throws ClusterException, InterruptedException {
    String directory = cluster.diskDirectory(server, disk).toString();
    String image = image(server, disk).toString();
    Optional<String> objection =
        ConditionWaiter.within(UNMOUNT_MILLIS)
            .objection(
                () -> {
                  try {
                    if (Command.run(1, "findmnt", "-n", directory).contains(directory)) {
                      Command.run("umount", directory);
                    }
                    String users = Command.run("losetup", "-j", image);
                    return users.isEmpty() ? null : users;
                  } catch (ClusterException e) {
                    return e.getMessage();
                  }
                });
    if (objection.isPresent()) {
      throw new ClusterException(
          "%s is still in use, so that it cannot be repaired: %s"
              .formatted(directory, objection.get()));
    }
  }

  /** Unmounts everything. The processes of the cluster have ended. */
  @Override
  public void close() throws ClusterException, InterruptedException {
    Command.run("umount", "-R", "-l", cluster.directory().toString());
  }
}
