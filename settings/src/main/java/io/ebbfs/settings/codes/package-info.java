/** Codes and pairs of codes that a user defines, out of {@code codes.yaml}. */
package io.ebbfs.settings.codes;
