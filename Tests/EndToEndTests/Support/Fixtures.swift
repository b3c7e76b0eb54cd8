import Foundation

/// The location of third-party sample files, either beside the repository or at `HPEER_FIXTURES`.
enum Fixtures {
  private static let folder =
    ProcessInfo.processInfo.environment["HPEER_FIXTURES"]
    ?? URL(fileURLWithPath: Build.root).deletingLastPathComponent().appendingPathComponent("shared/data/fixtures").path
  /// The directory of exports from real phones.
  static let real = folder + "/real"
}
