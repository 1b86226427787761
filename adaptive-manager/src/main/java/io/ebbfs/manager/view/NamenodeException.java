package io.ebbfs.manager.view;

/** The namenode did not answer, or refused. Unchecked: the next run of a task tries again. */
public final class NamenodeException extends RuntimeException {
  private static final long serialVersionUID = 1;

  NamenodeException(String call, Throwable cause) {
    super(
        "the namenode did not answer "
            + call
            + " ("
            + brief(cause)
            + "); check that it runs and that --namenode names its address",
        cause);
  }

  private static String brief(Throwable cause) {
    Throwable root = cause;
    while (root.getCause() != null && root.getMessage() == null) {
      root = root.getCause();
    }
    String message = String.valueOf(root.getMessage());
    int end = message.indexOf('\n');
    return end < 0 ? message : message.substring(0, end);
  }

  /** What has not been learnt from the namenode, for an operator. */
  NamenodeException(String message) {
    super(message);
  }
}
