package io.ebbfs.verify.histories;

import io.ebbfs.verify.histories.Call.Verb;
import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.crypto.CryptoProtocolVersion;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DFSClient;
import org.apache.hadoop.hdfs.DFSOutputStream;
import org.apache.hadoop.hdfs.client.HdfsDataOutputStream;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.DirectoryListing;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.io.EnumSetWritable;
import org.apache.hadoop.ipc.RemoteException;

/** The stock HDFS client, with its own retries and failover. For one thread. */
final class StockNamespaceClient implements NamespaceClient, Closeable {
  private static final long BLOCK_BYTES = 1 << 20;

  /** The classes of the errors that say that the paths do not permit a call. */
  private static final Set<String> REFUSALS =
      Set.of(
          "java.io.FileNotFoundException",
          "org.apache.hadoop.fs.FileAlreadyExistsException",
          "org.apache.hadoop.fs.ParentNotDirectoryException",
          "org.apache.hadoop.fs.PathIsNotEmptyDirectoryException",
          // Of a superuser: a directory of the path is a file.
          "org.apache.hadoop.security.AccessControlException");

  /** The classes of the errors that say that another client has the file open. */
  private static final Set<String> BUSY =
      Set.of(
          "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException",
          "org.apache.hadoop.hdfs.protocol.RecoveryInProgressException");

  /** The classes of the errors that say that the call has not run, and may run later. */
  private static final Set<String> NOT_NOW =
      Set.of(
          "org.apache.hadoop.hdfs.server.namenode.SafeModeException",
          "org.apache.hadoop.ipc.RetriableException",
          "org.apache.hadoop.ipc.StandbyException");

  private static final int TRIES = 100;
  private static final long PAUSE_MILLIS = 200;

  private final DFSClient client;
  private HdfsDataOutputStream opened;

  StockNamespaceClient(URI uri, Configuration configuration) throws IOException {
    this.client = new DFSClient(uri, configuration);
  }

  @Override
  public Answer run(String directory, Call call) throws IOException, InterruptedException {
    for (int tries = 1; ; tries++) {
      try {
        return answer(directory, call);
      } catch (IOException e) {
        String error = classOf(e);
        if (REFUSALS.contains(error) || refusesRename(call, e)) {
          return Answer.REFUSED;
        }
        if (BUSY.contains(error)) {
          return call.verb() == Verb.CREATE ? Answer.REFUSED : Answer.BUSY;
        }
        if (tries == TRIES || !NOT_NOW.contains(error)) {
          throw e;
        }
        Thread.sleep(PAUSE_MILLIS);
      }
    }
  }

  /** The class of the server's error, if it is one. */
  static String classOf(IOException error) {
    return error instanceof RemoteException remote
        ? remote.getClassName()
        : error.getClass().getName();
  }

  /** Some refusals of a rename have no class of their own. */
  private static boolean refusesRename(Call call, IOException error) {
    return (call.verb() == Verb.RENAME || call.verb() == Verb.RENAME_OVER)
        && error instanceof RemoteException
        && classOf(error).equals("java.io.IOException")
        && error.getMessage() != null
        && error.getMessage().matches("(?s)(rename|Rename|Source|The source).*");
  }

  private Answer answer(String directory, Call call) throws IOException {
    ClientProtocol namenode = client.getNamenode();
    String path = path(directory, call.path());
    return switch (call.verb()) {
      case MKDIRS ->
          namenode.mkdirs(path, new FsPermission(0755), true) ? Answer.DONE : Answer.REFUSED;
      case CREATE -> create(namenode, path);
      case OPEN -> open(path);
      case CLOSE -> closeOpened();
      case RENAME -> {
        namenode.rename2(path, path(directory, call.target()), Options.Rename.NONE);
        yield Answer.DONE;
      }
      case RENAME_OVER -> {
        namenode.rename2(path, path(directory, call.target()), Options.Rename.OVERWRITE);
        yield Answer.DONE;
      }
      case DELETE -> namenode.delete(path, false) ? Answer.DONE : Answer.REFUSED;
      case STAT -> stat(namenode, path);
      case LIST -> list(namenode, path);
    };
  }

  private static String path(String directory, String below) {
    return below.isEmpty() ? directory : directory + "/" + below;
  }

  private Answer create(ClientProtocol namenode, String path) throws IOException {
    HdfsFileStatus made =
        namenode.create(
            path,
            new FsPermission(0644),
            client.getClientName(),
            new EnumSetWritable<>(EnumSet.of(CreateFlag.CREATE)),
            false,
            (short) 1,
            BLOCK_BYTES,
            CryptoProtocolVersion.supported(),
            null,
            null);
    try {
      namenode.complete(path, client.getClientName(), null, made.getFileId());
    } catch (IOException e) {
      // The file exists since the create. Perhaps it stays open: appends to it are refused then.
    }
    return Answer.made(made.getFileId());
  }

  private Answer open(String path) throws IOException {
    opened = client.append(path, 4096, EnumSet.of(CreateFlag.APPEND), null, null);
    long id = ((DFSOutputStream) opened.getWrappedStream()).getFileId();
    return Answer.saw(Map.of("", new Node(false, id, opened.getPos())));
  }

  private Answer closeOpened() throws IOException {
    try {
      opened.write('x');
      opened.close();
      return Answer.DONE;
    } catch (IOException e) {
      throw new BegunAppendException(e);
    }
  }

  /** An append that was begun and has failed: its byte may be in the file or not. */
  private static final class BegunAppendException extends IOException {
    private static final long serialVersionUID = 1;

    BegunAppendException(IOException cause) {
      super("the append was begun and has failed: " + cause, cause);
    }
  }

  private static Answer stat(ClientProtocol namenode, String path) throws IOException {
    HdfsFileStatus status = namenode.getFileInfo(path);
    if (status == null) {
      return Answer.REFUSED;
    }
    SortedMap<String, Node> seen = new TreeMap<>();
    seen.put("", node(status));
    return Answer.saw(seen);
  }

  private static Answer list(ClientProtocol namenode, String path) throws IOException {
    DirectoryListing listing = namenode.getListing(path, HdfsFileStatus.EMPTY_NAME, false);
    if (listing == null) {
      return Answer.REFUSED;
    }
    if (listing.hasMore()) {
      throw new IllegalStateException(path + " has more entries than a page");
    }
    SortedMap<String, Node> seen = new TreeMap<>();
    for (HdfsFileStatus status : listing.getPartialListing()) {
      seen.put(status.getLocalName(), node(status));
    }
    return Answer.saw(seen);
  }

  private static Node node(HdfsFileStatus status) {
    return new Node(status.isDirectory(), status.getFileId(), status.getLen());
  }

  @Override
  public void close() throws IOException {
    client.close();
  }
}
