package io.ebbfs.manager.view;

import java.util.List;

/**
 * A page of files and directories.
 *
 * @param end where the next page begins; null after the last page
 */
public record InodePage(List<InodeView> inodes, byte[] end) {}
