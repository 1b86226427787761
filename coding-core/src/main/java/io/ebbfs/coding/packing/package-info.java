/** How blocks are packed into stripes, and what the packing costs. */
package io.ebbfs.coding.packing;
