/** The codes and pairs that a user defines in {@code codes.yaml}. */
package io.ebbfs.coding.definitions;
