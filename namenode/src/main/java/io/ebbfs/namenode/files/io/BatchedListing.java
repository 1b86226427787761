package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.UnresolvedLinkException;
import org.apache.hadoop.hdfs.protocol.BatchedDirectoryListing;
import org.apache.hadoop.hdfs.protocol.DirectoryListing;
import org.apache.hadoop.hdfs.protocol.HdfsPartialListing;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.security.AccessControlException;

/**
 * Lists several paths by one call, page by page. A path that cannot be listed has an exception in
 * its place, and the others are listed. A failure that says nothing about a path ends the call: its
 * client repeats it, and no entry is passed over. Thread-safe.
 */
public final class BatchedListing {
  /** The paths of one call: HDFS's default of dfs.batched.ls.limit. */
  static final int PATHS = 100;

  private static final byte[] START = {};
  private static final int HEADER_BYTES = 2 * Integer.BYTES;

  private final FileReadService reads;
  private final int pageEntries;

  public BatchedListing(FileReadService reads, NamespaceLimits limits) {
    this.reads = reads;
    this.pageEntries = limits.listingPage();
  }

  /**
   * Where a page begins: in the client's hands between two calls.
   *
   * @param name the last name of the page before within the path; empty for the first page
   */
  private record Place(int path, byte[] name) {
    byte[] key(String[] paths) {
      return ByteBuffer.allocate(HEADER_BYTES + name.length)
          .putInt(Arrays.hashCode(paths))
          .putInt(path)
          .put(name)
          .array();
    }

    static Place of(byte[] key, String[] paths) {
      if (key.length == 0) {
        return new Place(0, START);
      }
      ByteBuffer fields = ByteBuffer.wrap(key);
      if (key.length < HEADER_BYTES || fields.getInt() != Arrays.hashCode(paths)) {
        throw new IllegalArgumentException(
            "a page of a listing of several paths was asked for with other paths than the page before: begin the listing again");
      }
      int path = fields.getInt();
      byte[] name = new byte[fields.remaining()];
      fields.get(name);
      return new Place(path, name);
    }
  }

  /**
   * A page.
   *
   * @param startAfter the key of the page before; empty for the first page
   */
  public BatchedDirectoryListing list(
      Caller caller, String[] paths, byte[] startAfter, boolean withLocations, String clientMachine)
      throws IOException {
    if (paths.length > PATHS) {
      throw new IllegalArgumentException(
          "Too many source paths (%d > %d)".formatted(paths.length, PATHS));
    }
    Place place = Place.of(startAfter, paths);
    List<HdfsPartialListing> listings = new ArrayList<>();
    int entries = 0;
    byte[] after = place.name();
    int path = place.path();
    while (path < paths.length && entries < pageEntries) {
      byte[] left = START;
      try {
        DirectoryListing listed = list(caller, paths[path], after, withLocations, clientMachine);
        listings.add(new HdfsPartialListing(path, List.of(listed.getPartialListing())));
        entries += listed.getPartialListing().length;
        left = listed.hasMore() ? listed.getLastName() : START;
      } catch (AccessControlException
          | FileNotFoundException
          | ParentNotDirectoryException
          | UnresolvedLinkException
          | IllegalArgumentException e) { // InvalidPathException is one
        listings.add(new HdfsPartialListing(path, asAnswer(e)));
      }
      after = left;
      path += left.length == 0 ? 1 : 0;
    }
    boolean more = path < paths.length;
    return new BatchedDirectoryListing(
        listings.toArray(HdfsPartialListing[]::new),
        more,
        more ? new Place(path, after).key(paths) : START);
  }

  private DirectoryListing list(
      Caller caller, String path, byte[] after, boolean withLocations, String clientMachine)
      throws IOException {
    DirectoryListing listed = reads.list(caller, path, after, withLocations, clientMachine);
    if (listed == null) {
      throw new FileNotFoundException("Path " + path + " does not exist");
    }
    return listed;
  }

  private static RemoteException asAnswer(Exception failure) {
    return new RemoteException(failure.getClass().getName(), failure.getMessage());
  }
}
