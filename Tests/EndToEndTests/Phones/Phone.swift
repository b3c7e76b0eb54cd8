import Foundation
import Synchronization
import Testing

/// A simulated phone beside the studio, announced by the studio's avahi-daemon.
final class Phone {
  let name: String
  private let process: Process
  private let input: Pipe
  private let reader: LineBox

  /// Starts the simulated app and waits until it is announced.
  ///
  /// - Parameters:
  ///   - kind: Either `hat` or `hsi`.
  ///   - port: The port at the first start, or 0 for a free port.
  init(_ kind: String, _ name: String, on hosts: TwoHosts, heartRates count: Int, port: Int = 0) async throws {
    self.name = name
    (process, input, reader) = (Process(), Pipe(), LineBox())
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      hosts.studio.prefix + [
        URL(fileURLWithPath: Build.hpeer).deletingLastPathComponent().appendingPathComponent("phone-stand-in").path,
        kind,
        name, "10.77.0.1", String(count), String(port),
      ]
    (process.standardInput, process.standardOutput) = (input, output)
    reader.listen(to: output.fileHandleForReading)
    try process.run()
    let ready = try await said()
    try #require(ready.hasPrefix("ready "), "\(ready)")
  }

  deinit { process.terminate() }

  /// Sends a command to the phone and returns its answer.
  @discardableResult
  func tell(_ line: String) async throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    return try await said()
  }

  private func said() async throws -> String {
    try await eventually("the phone says something") { [reader] in reader.take() }
  }
}

/// The lines that a process has printed and that have not been read yet.
final class LineBox: Sendable {
  private let state = Mutex((text: "", lines: [String]()))

  func take() -> String? {
    state.withLock { $0.lines.isEmpty ? nil : $0.lines.removeFirst() }
  }

  func listen(to handle: FileHandle) {
    handle.readabilityHandler = { [self] handle in
      let data = handle.availableData
      if data.isEmpty { handle.readabilityHandler = nil }
      state.withLock { state in
        state.text += String(decoding: data, as: UTF8.self)
        while let end = state.text.firstIndex(of: "\n") {
          state.lines.append(String(state.text[..<end]))
          state.text = String(state.text[state.text.index(after: end)...])
        }
      }
    }
  }
}
