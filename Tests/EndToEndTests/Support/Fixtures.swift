import Foundation

/// Sample files by others, beside the repository or at `HPEER_FIXTURES`.
enum Fixtures {
  private static let folder =
    ProcessInfo.processInfo.environment["HPEER_FIXTURES"]
    ?? URL(fileURLWithPath: Build.root).deletingLastPathComponent().appendingPathComponent("shared/data/fixtures").path
  /// Exports of phones.
  static let real = folder + "/real"
}
