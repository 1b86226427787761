package io.ebbfs.namenode.erasure;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.StoreFormat;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicy;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicyInfo;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicyState;
import org.apache.hadoop.hdfs.protocol.SystemErasureCodingPolicies;
import org.apache.hadoop.io.erasurecode.ErasureCodeConstants;

/**
 * Which erasure coding policies may be set and used for new files: a setting in the store. As in
 * HDFS, a disabled policy still holds for what has it. Thread-safe.
 */
public final class EnabledPolicies {
  private static final Key KEY = Tables.named("ecPoliciesEnabled");

  /** As in HDFS, this one is enabled until an operator disables it. */
  private static final String AT_FIRST =
      SystemErasureCodingPolicies.getByID(SystemErasureCodingPolicies.RS_6_3_POLICY_ID).getName();

  private final MetadataStore store;

  public EnabledPolicies(MetadataStore store) {
    this.store = store;
  }

  /** All policies of HDFS by their names, and whether each is enabled. */
  public List<ErasureCodingPolicyInfo> all() throws IOException {
    Set<String> enabled =
        store.transact(KEY.partition(), Durability.RELAXED, EnabledPolicies::names);
    List<ErasureCodingPolicyInfo> all = new ArrayList<>();
    for (ErasureCodingPolicy policy : SystemErasureCodingPolicies.getPolicies()) {
      all.add(
          new ErasureCodingPolicyInfo(
              policy,
              enabled.contains(policy.getName())
                  ? ErasureCodingPolicyState.ENABLED
                  : ErasureCodingPolicyState.DISABLED));
    }
    all.sort(Comparator.comparing(info -> info.getPolicy().getName()));
    return all;
  }

  /** Enables a policy. Versions that do not know block groups refuse the store from then on. */
  public void enable(String name) throws IOException {
    requireKnown(name);
    StoreFormat.raiseToBlockGroups(store);
    change(name, true);
  }

  /** Disables a policy: it cannot be set any more, and new files cannot be made with it. */
  public void disable(String name) throws IOException {
    requireKnown(name);
    change(name, false);
  }

  private static void requireKnown(String name) {
    if (SystemErasureCodingPolicies.getByName(name) == null) {
      throw new HadoopIllegalArgumentException("The policy name " + name + " does not exist");
    }
  }

  private void change(String name, boolean isEnabled) throws IOException {
    store.transact(
        KEY.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, KEY)));
          Set<String> names = new TreeSet<>(names(transaction));
          if (isEnabled ? names.add(name) : names.remove(name)) {
            transaction.put(
                Tables.SETTING,
                KEY,
                SettingRow.newBuilder().setValue(String.join(",", names)).build());
          }
          return null;
        });
  }

  private static Set<String> names(Transaction transaction) throws IOException {
    String value = transaction.get(Tables.SETTING, KEY).map(SettingRow::getValue).orElse(AT_FIRST);
    return value.isEmpty() ? Set.of() : new TreeSet<>(List.of(value.split(",")));
  }

  /**
   * The policy of this name, which may be set.
   *
   * @throws HadoopIllegalArgumentException if the policy is disabled or unknown
   */
  public static ErasureCodingPolicy require(Transaction transaction, String name)
      throws IOException {
    if (name.equalsIgnoreCase(ErasureCodeConstants.REPLICATION_POLICY_NAME)) {
      return SystemErasureCodingPolicies.getReplicationPolicy();
    }
    Set<String> names = names(transaction);
    if (!names.contains(name)) {
      throw new HadoopIllegalArgumentException(
          "Policy '%s' does not match any enabled erasure coding policies: [%s]. An erasure coding policy can be enabled by enableErasureCodingPolicy API."
              .formatted(name, String.join(", ", names)));
    }
    return SystemErasureCodingPolicies.getByName(name);
  }
}
