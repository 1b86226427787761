package io.ebbfs.manager.cluster;

/** The namenode could not be asked, or refused. Unchecked: every round of work survives it. */
public final class NamenodeException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public NamenodeException(String call, Throwable cause) {
    super(
        "the namenode did not answer "
            + call
            + " ("
            + brief(cause)
            + "); see that it runs and that --namenode names its address",
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
}
