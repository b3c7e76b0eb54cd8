import Foundation

/// A Python virtual environment that `scripts/setup --tests` makes from a list in Tests/Tools/environments.
package struct PythonEnvironment: Sendable {
  /// The name of the list: `fhir` for `Tests/Tools/environments/fhir.txt`.
  package let name: String
  /// The environment's directory, or `nil` if the environment isn't installed.
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

  /// The reason that a test gives when it is skipped because the environment is missing.
  package var missing: String { "scripts/setup --tests could not make the Python environment \(name)" }

  /// Returns the path of a program in the environment, such as `python`, or `nil` if it isn't there.
  package func program(_ name: String) -> String? {
    folder.map { "\($0)/bin/\(name)" }.flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil }
  }
}
