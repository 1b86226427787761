package io.ebbfs.manager.schedule;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.manager.bound.PolicyAccount;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.RocksDBException;

/** The samples of storage over time, kept in the store. Thread-safe. */
public final class Timeline {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** One policy at one time. Sizes are bytes; bound is null for none. */
  public record Point(
      String policy,
      Double bound,
      long liveBytes,
      long storedBytes,
      long fastBytes,
      long replicatedBytes,
      long replicatedStoredBytes,
      double encodedOverhead,
      double totalOverhead) {}

  /** The cluster at one time. */
  public record Sample(
      long timeMillis, long logicalBytes, long storedBytes, List<Point> policies) {}

  private final ManagerStore store;

  public Timeline(ManagerStore store) {
    this.store = store;
  }

  static Point point(PolicyAccount account) {
    return new Point(
        account.policy(),
        account.bound().isPresent() ? account.bound().getAsDouble() : null,
        account.liveBytes(),
        account.storedBytes(),
        account.fastBytes(),
        account.replicatedBytes(),
        account.replicatedStoredBytes(),
        account.encodedOverhead(),
        account.totalOverhead());
  }

  public void add(
      long nowMillis, Evaluation evaluation, GetClusterResponseProto cluster, long keepMillis)
      throws RocksDBException {
    Sample sample =
        new Sample(
            nowMillis,
            cluster.getLogicalBytes(),
            cluster.getStoredBytes(),
            evaluation.accounts().stream().map(Timeline::point).toList());
    try {
      store.putSample(nowMillis, JSON.writeValueAsString(sample));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a sample cannot be written as JSON: " + sample, e);
    }
    store.dropSamplesBefore(nowMillis - keepMillis);
  }

  /**
   * At most so many samples from a time on, evenly chosen; the latest sample is always among them.
   */
  public List<Sample> since(long fromMillis, int most) {
    List<String> all = store.samplesSince(fromMillis);
    List<Sample> samples = new ArrayList<>();
    int stride = Math.max(1, (all.size() + most - 1) / most);
    for (int i = 0; i < all.size(); i++) {
      if (i % stride == 0 || i == all.size() - 1) {
        try {
          samples.add(JSON.readValue(all.get(i), Sample.class));
        } catch (JsonProcessingException e) {
          throw new IllegalStateException(
              "a sample in the store is not readable: " + all.get(i), e);
        }
      }
    }
    return samples;
  }
}
