package io.ebbfs.ignite;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.cache.Cache;
import org.apache.ignite.Ignite;
import org.apache.ignite.IgniteCache;
import org.apache.ignite.binary.BinaryObject;
import org.apache.ignite.cache.affinity.Affinity;
import org.apache.ignite.cache.query.IndexQuery;
import org.apache.ignite.cache.query.IndexQueryCriteriaBuilder;
import org.apache.ignite.cache.query.QueryCursor;
import org.apache.ignite.cluster.ClusterNode;
import org.apache.ignite.internal.IgniteEx;
import org.apache.ignite.lang.IgniteCallable;
import org.apache.ignite.resources.IgniteInstanceResource;

/**
 * A scan of the rows of which a node of the store has the primary copies, in the order of their
 * keys. It runs at the node, so that a scan of a whole table costs one message per node.
 */
final class LocalScan implements IgniteCallable<LocalScan.Part> {
  private static final long serialVersionUID = 1;

  /** Rows that Ignite reads at a time. */
  private static final int PAGE = 1_000;

  @IgniteInstanceResource private transient Ignite ignite;
  private final byte[] from;
  private final boolean including;
  private final byte[] end;
  private final int limit;

  /**
   * @param from the order of the first row
   * @param including whether that row itself belongs to the scan
   * @param end the order behind the last row
   * @param limit rows that are read, at most
   */
  LocalScan(byte[] from, boolean including, byte[] end, int limit) {
    this.from = from.clone();
    this.including = including;
    this.end = end.clone();
    this.limit = limit;
  }

  /** The rows of one node. A class, because Ignite cannot send records. */
  static final class Part implements Serializable {
    private static final long serialVersionUID = 1;

    private final String distribution;
    private final ArrayList<RowId> keys;
    private final ArrayList<byte[]> values;
    private final byte[] upTo;
    private final int partitions;

    Part(
        String distribution,
        int partitions,
        ArrayList<RowId> keys,
        ArrayList<byte[]> values,
        byte[] upTo) {
      this.distribution = distribution;
      this.partitions = partitions;
      this.keys = keys;
      this.values = values;
      this.upTo = upTo;
    }

    /**
     * The distribution of partitions over nodes, as the node knew it before and after the scan;
     * null if it has changed meanwhile, or if all copies of some rows are lost.
     */
    String distribution() {
      return distribution;
    }

    /** The number of partitions of which the node has the primary copies. */
    int partitions() {
      return partitions;
    }

    /** The keys of the rows, in order. */
    List<RowId> keys() {
      return keys;
    }

    List<byte[]> values() {
      return values;
    }

    /** The order of the last row that was read; null if all rows were read. */
    byte[] upTo() {
      return upTo;
    }
  }

  @Override
  public Part call() {
    String before = distribution();
    IgniteCache<RowId, byte[]> cache = ignite.cache(IgniteSettings.CACHE);
    Affinity<RowId> affinity = ignite.affinity(IgniteSettings.CACHE);
    ClusterNode self = ignite.cluster().localNode();
    ArrayList<RowId> keys = new ArrayList<>();
    ArrayList<byte[]> values = new ArrayList<>();
    RowId last = null;
    int read = 0;
    try (QueryCursor<Cache.Entry<RowId, byte[]>> cursor = cache.query(query())) {
      for (Cache.Entry<?, byte[]> entry : cursor) {
        read++;
        last = keyOf(entry);
        if (affinity.isPrimary(self, last)) {
          keys.add(last);
          values.add(entry.getValue());
        }
      }
    }
    return new Part(
        before.equals(distribution()) && cache.lostPartitions().isEmpty() ? before : null,
        affinity.primaryPartitions(self).length,
        keys,
        values,
        read < limit ? null : last.order());
  }

  /** A local query leaves keys in Ignite's own form. */
  private static RowId keyOf(Cache.Entry<?, byte[]> entry) {
    return entry.getKey() instanceof BinaryObject binary
        ? binary.deserialize()
        : (RowId) entry.getKey();
  }

  private IndexQuery<RowId, byte[]> query() {
    IndexQuery<RowId, byte[]> query =
        new IndexQuery<RowId, byte[]>(byte[].class.getName(), IgniteSettings.INDEX)
            .setCriteria(
                including
                    ? IndexQueryCriteriaBuilder.gte(RowId.ORDER_FIELD, from)
                    : IndexQueryCriteriaBuilder.gt(RowId.ORDER_FIELD, from),
                IndexQueryCriteriaBuilder.lt(RowId.ORDER_FIELD, end));
    query.setLocal(true).setPageSize(Math.min(limit, PAGE));
    query.setLimit(limit);
    return query;
  }

  private String distribution() {
    return ((IgniteEx) ignite)
        .context()
        .cache()
        .context()
        .exchange()
        .readyAffinityVersion()
        .toString();
  }

  @Override
  public String toString() {
    return "scan of rows from " + Arrays.toString(from);
  }
}
