package io.ebbfs.namenode.files.xattrs;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.CodingProtos.PinRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.PinResponseProto;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.fs.InvalidPathException;

/**
 * Sets and removes pins by order of an operator, whom no permission of a file holds back. An order
 * that is carried out twice has the effect of one. Thread-safe.
 */
public final class PinOrders {
  private final MetadataStore store;
  private final BooleanSupplier readOnly;

  /**
   * @param readOnly whether an operator has entered safe mode; must not block
   */
  public PinOrders(MetadataStore store, BooleanSupplier readOnly) {
    this.store = store;
    this.readOnly = readOnly;
  }

  /** Carries an order out, unless it is a dry run. The pin is durable when the answer comes. */
  public PinResponseProto pin(PinRequestProto request) throws IOException {
    if (!request.getDryRun() && readOnly.getAsBoolean()) {
      return refused(
          "the pin of %s cannot change in safe mode, which an operator has entered: leave it with 'hdfs dfsadmin -safemode leave'",
          request.getPath());
    }
    try {
      return OptimisticTransactions.transact(
          store, Inode.ROOT_ID, transaction -> pin(transaction, request));
    } catch (FileNotFoundException | InvalidPathException e) { // no such inode, or no absolute path
      return refused("%s: name a file or directory that exists", e.getMessage());
    }
  }

  private static PinResponseProto pin(Transaction transaction, PinRequestProto request)
      throws IOException {
    ResolvedPath path = PathResolver.resolve(transaction, request.getPath());
    if (!path.exists()) {
      return refused("there is no file or directory %s: name one that exists", request.getPath());
    }
    Inode inode = InodeLocks.lock(transaction, List.of(path.lastFound())).get(0);
    if (inode.isRoot()) {
      return refused(
          "%s is the root, which takes no pin: pin the directories below it", request.getPath());
    }
    PinResponseProto.Builder response = PinResponseProto.newBuilder();
    if (inode.row().hasPin()) {
      response.setBefore(inode.row().getPin());
    }
    if (!request.getDryRun()) {
      XAttrRows.writePin(
          transaction,
          inode,
          request.hasPin() ? List.of(Pins.attribute(request.getPin())) : List.of());
    }
    return response.build();
  }

  private static PinResponseProto refused(String why, String what) {
    return PinResponseProto.newBuilder().setRefusal(why.formatted(what)).build();
  }
}
