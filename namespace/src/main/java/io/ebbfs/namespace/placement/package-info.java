/**
 * Which blocks become a stripe, and on which disks its blocks are. Pure functions: a snapshot in, a
 * decision with its reason out; random ties come from a seed that is handed in.
 *
 * <p>{@link io.ebbfs.namespace.placement.Packing} makes groups of stripes of blocks, {@link
 * io.ebbfs.namespace.placement.StripePlacement} gives them disks.
 */
package io.ebbfs.namespace.placement;
