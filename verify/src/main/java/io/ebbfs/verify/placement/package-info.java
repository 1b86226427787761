/**
 * Measures decisions of the namenode with its own code: {@link
 * io.ebbfs.verify.placement.PlacementTable} prints {@code ./ebb verify placement}, {@link
 * io.ebbfs.verify.placement.PackingTable} prints {@code ./ebb verify packing}.
 */
package io.ebbfs.verify.placement;
