/**
 * Quotas of directories. {@link io.ebbfs.namenode.files.quotas.TreeCounter} has a directory
 * counted, {@link io.ebbfs.namenode.files.quotas.QuotaService} sets its limits. The sums are kept
 * by the store: see docs/metadata-store.md#quotas.
 */
package io.ebbfs.namenode.files.quotas;
