/**
 * What a conversion costs and what it earns. The unit of both is the move of a block: one block
 * read or written. All figures are per data block. The derivation is in {@code docs/policy.md}.
 */
package io.ebbfs.manager.economics;
