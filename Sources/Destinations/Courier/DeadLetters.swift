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

  /// Of a ``Redelivery``: what is delivered together under one key.
  struct Batch: Sendable {
    /// On the disk before it is used.
    var key: UUID
    var samples: [SampleReference]
  }

  private struct Line: Codable {
    /// The key of the ``Batch`` that it is in, while nothing is known of how that ended.
    var again: UUID?
    var key: String
    var reason: String
    var start: Timestamp
    var type: String
    var uuid: String

    var refused: RefusedSample {
      RefusedSample(
        SampleReference(type: SampleType(type), start: start, uuid: UUID(uuidString: uuid) ?? UUID()), reason: reason)
    }

    func precedes(_ other: Line) -> Bool { (start, uuid) < (other.start, other.uuid) }
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

  // MARK: Delivering again

  /// All of them in batches, and returns when the keys are on the disk. A batch that was interrupted is the same again, under
  /// the same key, without what was refused anew meanwhile. Throws `SystemError`.
  func batches(ofAtMost size: Int) async throws -> [Batch] {
    try await onThread { [self] _ in
      var lines = try lines()
      let isNew = lines.indices.filter { lines[$0].again == nil }.sorted { lines[$0].precedes(lines[$1]) }
      for first in stride(from: 0, to: isNew.count, by: size) {
        let key = UUID()
        for index in isNew[first..<min(first + size, isNew.count)] { lines[index].again = key }
      }
      if !isNew.isEmpty { try write(lines) }
      var (batches, places): ([Batch], [UUID: Int]) = ([], [:])
      for line in lines.sorted(by: { $0.precedes($1) }) {
        guard let key = line.again else { continue }
        if let place = places[key] {
          batches[place].samples.append(line.refused.sample)
        } else {
          places[key] = batches.count
          batches.append(Batch(key: key, samples: [line.refused.sample]))
        }
      }
      return batches
    }
  }

  /// Removes what was taken of a batch, and notes of the others what was said of them now, atomically. Throws `SystemError`.
  func settle(_ batch: Batch, refused: [RefusedSample]) async throws {
    let reasons = Dictionary(refused.map { ($0.sample, $0.reason) }, uniquingKeysWith: { $1 })
    try await onThread { [self] _ in
      var left: [Line] = []
      for var line in try lines() {
        if line.again == batch.key {
          guard let reason = reasons[line.refused.sample] else { continue }
          (line.again, line.reason) = (nil, reason)
        }
        left.append(line)
      }
      try write(left)
    }
  }

  private func write(_ lines: [Line]) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var bytes: [UInt8] = []
    for line in lines { bytes += try encoder.encode(line) + [UInt8(ascii: "\n")] }
    try PrivateFile.replace(path, bytes)
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
