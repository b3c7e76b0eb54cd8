import Foundation
import Testing

/// Sample files by others, beside the repository or at `HPEER_FIXTURES`.
enum Fixtures {
  private static let folder =
    ProcessInfo.processInfo.environment["HPEER_FIXTURES"]
    ?? URL(fileURLWithPath: Build.root).deletingLastPathComponent().appendingPathComponent("shared/data/fixtures").path
  /// Exports of phones.
  static let real = folder + "/real"
}

/// The virtual environment that `scripts/setup --tests` makes, with programs that tests hold files against.
enum TestPython {
  /// What a test that needs it says when it is skipped.
  static let missing: Comment =
    "scripts/setup --tests could not make a virtual environment of Python (scripts/lib/test-python)"

  private static let folder: String? = {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: Build.root + "/scripts/lib/test-python")
    process.standardOutput = output
    guard (try? process.run()) != nil else { return nil }
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
  }()

  /// The path of a program in it; `nil` where it is not there.
  static func program(_ name: String) -> String? {
    folder.map { "\($0)/bin/\(name)" }.flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil }
  }
}
