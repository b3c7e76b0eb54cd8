import Foundation
import Glibc
import HealthModel
import OperatingSystem

/// A file of the samples that a destination has refused for good, a line of JSON each, so that a person can see what it
/// lacks: which and why, no values. The samples themselves are in the store.
///
///     {"key":"…","reason":"unknown type","start":"2024-01-01T10:00:00Z","type":"HKQuantityTypeIdentifierStepCount","uuid":"…"}
///
/// A batch that comes again may be in the file twice, with one key.
public struct DeadLetters: Sendable {
  /// Mode 0600; made with the first line.
  public let path: String

  /// - Parameter path: in a folder that is there, of this destination only.
  public init(path: String) { self.path = path }

  private struct Line: Codable {
    var key: String
    var reason: String
    var start: Timestamp
    var type: String
    var uuid: String

    var refused: RefusedSample {
      RefusedSample(
        SampleReference(type: SampleType(type), start: start, uuid: UUID(uuidString: uuid) ?? UUID()), reason: reason)
    }
  }

  /// Adds them, and returns when they are on the disk. Throws `SystemError`.
  func add(_ refused: [RefusedSample], of key: DeliveryKey) async throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var bytes: [UInt8] = []
    for refused in refused {
      let line = Line(
        key: key.description, reason: refused.reason, start: refused.sample.start,
        type: refused.sample.type.rawValue, uuid: refused.sample.uuid.uuidString)
      bytes += try encoder.encode(line) + [UInt8(ascii: "\n")]
    }
    try await onThread { [bytes, path] _ in try Self.append(bytes, to: path) }
  }

  // MARK: Reading

  /// All of them, each sample once with what was last said of it, in the order in which they came. Passes over a line that was
  /// cut off. Throws `SystemError`.
  public func read() async throws -> [RefusedSample] {
    try await onThread { [self] _ in try lines().map(\.refused) }
  }

  /// Removes the entries of all samples but these, atomically. Throws `SystemError`.
  func keep(_ samples: Set<SampleReference>) async throws {
    try await onThread { [self] _ in
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      var bytes: [UInt8] = []
      for line in try lines() where samples.contains(line.refused.sample) {
        bytes += try encoder.encode(line) + [UInt8(ascii: "\n")]
      }
      try PrivateFile.replace(path, bytes)
    }
  }

  private func lines() throws(SystemError) -> [Line] {
    guard PrivateFile.exists(path) else { return [] }
    let bytes = try PrivateFile.read(path, limit: 1 << 30).bytes
    var places: [SampleReference: Int] = [:]
    var lines: [Line] = []
    for text in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let line = try? JSONDecoder().decode(Line.self, from: Data(text)), UUID(uuidString: line.uuid) != nil else {
        continue
      }
      if let place = places[line.refused.sample] {
        lines[place] = line
      } else {
        places[line.refused.sample] = lines.count
        lines.append(line)
      }
    }
    return lines
  }

  private static func append(_ bytes: [UInt8], to path: String) throws(SystemError) {
    let descriptor = try PrivateFile.open(path, O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK)
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemError("read", path) }
    var last: UInt8 = 0
    // A line that a crash has cut off must not take the next one with it.
    let isCut = status.st_size > 0 && pread(descriptor, &last, 1, status.st_size - 1) == 1 && last != UInt8(ascii: "\n")
    let bytes = isCut ? [UInt8(ascii: "\n")] + bytes : bytes
    let code = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
    guard code == 0 else { throw SystemError("write", path, code: code) }
    guard fsync(descriptor) == 0 else { throw SystemError("fsync", path) }
  }
}
