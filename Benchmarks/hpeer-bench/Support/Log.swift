import Terminal

/// A log of the progress, on standard error.
enum Log {
  static func say(_ text: String) {
    // Nobody needs it: a reader that went away does not end the run.
    try? OutputWriter.standardError.writeLine(text)
  }
}
