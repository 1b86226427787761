/**
 * Which blocks become a stripe, and on which disks the blocks of stripes and new replicas go. All
 * functions are pure: they take a snapshot and return a decision with its reason; random ties come
 * from a seed that is handed in.
 *
 * <p>{@link io.ebbfs.namenode.placement.Packing} makes stripes of blocks. {@code StripePlacer} in
 * the package {@code search} chooses their disks, {@code RePlacementPlanner} moves members of
 * misplaced stripes. {@link io.ebbfs.namenode.placement.ReplicaServerChooser} chooses servers for
 * replicas.
 */
package io.ebbfs.namenode.placement;
