package io.ebbfs.namenode.replicas;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.fs.StorageType;

/**
 * The types of the disks of a block while they are chosen, one replica after the other. A type that
 * has no room is given up: then the fallbacks of the policy count. Disks of type RAM_DISK lose
 * their bytes at a restart, so none is ever chosen. For one thread.
 */
final class TypeChoice {
  private static final List<StorageType> DURABLE =
      Arrays.stream(StorageType.values())
          .filter(type -> !type.isTransient() && type != StorageType.PROVIDED)
          .toList();

  private final TypeWish wish;
  private final List<StorageType> chosen;
  private final EnumSet<StorageType> unavailable = EnumSet.of(StorageType.RAM_DISK);
  private List<StorageType> open;

  /**
   * @param chosen the types of the replicas that are there
   */
  TypeChoice(TypeWish wish, List<StorageType> chosen) {
    this.wish = wish;
    this.chosen = new ArrayList<>(chosen);
    this.open = wanted();
  }

  private List<StorageType> wanted() {
    if (wish.exactly() != null) {
      List<StorageType> left = new ArrayList<>(wish.exactly());
      left.removeAll(unavailable);
      return left;
    }
    return wish.policy() == null
        ? new ArrayList<>()
        : new ArrayList<>(
            wish.policy()
                .chooseStorageTypes((short) wish.replication(), chosen, unavailable, wish.isNew()));
  }

  /** The sets of types of which the next replica is to have one, the best first. */
  List<EnumSet<StorageType>> next() {
    if (wish.policy() == null && wish.exactly() == null) {
      return List.of(EnumSet.copyOf(DURABLE));
    }
    return open.stream().distinct().map(EnumSet::of).toList();
  }

  /** A disk of that type is chosen. */
  void took(StorageType type) {
    chosen.add(type);
    open.remove(type);
  }

  /**
   * No disk of the {@link #next} types has room.
   *
   * @return whether there are others now
   */
  boolean giveUp() {
    if (open.isEmpty()) {
      return false;
    }
    unavailable.addAll(open);
    open = wanted();
    open.removeAll(unavailable);
    return !open.isEmpty();
  }
}
