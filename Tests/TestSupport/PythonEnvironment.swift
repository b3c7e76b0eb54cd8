import Foundation

/// A virtual environment that `scripts/setup --tests` has made of one of the lists in Tests/Tools/environments.
package struct PythonEnvironment: Sendable {
  /// `fhir` of `Tests/Tools/environments/fhir.txt`.
  package let name: String
  /// `nil` where it is not there.
  package let folder: String?

  package init(_ name: String) {
    self.name = name
    let process = Process()
    let output = Pipe()
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    process.executableURL = root.appending(path: "scripts/lib/python-environment")
    process.arguments = [name]
    process.standardOutput = output
    guard (try? process.run()) != nil else {
      folder = nil
      return
    }
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    folder =
      process.terminationStatus == 0
      ? String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines) : nil
  }

  /// What a test that needs it says when it is skipped.
  package var missing: String { "scripts/setup --tests could not make the Python environment \(name)" }

  /// The path of a program in it, such as `python`; `nil` where it is not there.
  package func program(_ name: String) -> String? {
    folder.map { "\($0)/bin/\(name)" }.flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil }
  }
}
