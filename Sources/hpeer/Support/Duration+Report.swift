extension Duration {
  /// Seconds to the millisecond, as reports in JSON have them.
  var reportedSeconds: Double { (self / .seconds(1) * 1000).rounded() / 1000 }
}
