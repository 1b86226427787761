package io.ebbfs.ignite;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import java.nio.file.Path;
import java.util.List;
import org.apache.ignite.Ignite;
import org.apache.ignite.transactions.TransactionConcurrency;
import org.apache.ignite.transactions.TransactionIsolation;

/**
 * A namenode as a process of its own that has a row locked, as in the middle of a commit, until it
 * is killed: SCRATCH PEER.
 */
final class LockingNamenodeMain {
  static final String LOCKED = "LOCKED";
  static final Key KEY = Key.of(7, 1);

  private LockingNamenodeMain() {}

  public static void main(String[] arguments) throws Exception {
    StoreClientConfig config =
        StoreClientConfig.of(Path.of(arguments[0]), "127.0.0.1", List.of(arguments[1]));
    StoreConnection connection = new StoreConnection(config, new StoreCalls());
    Ignite ignite = connection.joined().ignite();
    ignite
        .transactions()
        .txStart(TransactionConcurrency.PESSIMISTIC, TransactionIsolation.REPEATABLE_READ);
    ignite.cache(IgniteSettings.CACHE).get(RowId.of(Tables.COUNTER, KEY));
    System.out.println(LOCKED);
    Thread.sleep(Long.MAX_VALUE);
  }
}
