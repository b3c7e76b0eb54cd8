import Foundation
import Glibc
import HealthModel
import OperatingSystem

/// A file of the samples that a destination refused permanently, a line of JSON each, for a person to read. Lines
/// contain references and reasons, but no values. The samples themselves are in the store.
///
///     {"key":"…","reason":"unknown type","start":"2024-01-01T10:00:00Z","type":"HKQuantityTypeIdentifierStepCount","uuid":"…"}
///
/// A batch that is delivered again may be in the file twice, with the same key.
public struct DeadLetters: Sendable {
  /// The path of the file, which has mode 0600 and is created with the first line.
  public let path: String

  /// Creates the list without opening the file.
  ///
  /// - Parameter path: a file in an existing folder that only this destination uses.
  public init(path: String) { self.path = path }

  /// A group of samples that a ``Redelivery`` delivers together under one key.
  struct Batch: Sendable {
    /// The key, which is written to disk before it is used.
    var key: UUID
    var samples: [SampleReference]
  }

  private struct Line: Codable {
    /// The key of the ``Batch`` that contains the sample, while the outcome of its redelivery is unknown.
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

  /// Appends refused samples, and returns when they are on disk. Throws `SystemError`.
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

  /// Returns all refused samples in the order in which they were added, each sample once with its latest reason.
  /// Skips incomplete lines. Throws `SystemError`.
  public func read() async throws -> [RefusedSample] {
    try await onThread { [self] _ in try lines().map(\.refused) }
  }

  // MARK: Delivering again

  /// Divides all refused samples into batches, and returns when their keys are on disk. A batch that was interrupted
  /// is returned with the same key and samples, except those that were refused again since. Throws `SystemError`.
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

  /// Removes the accepted samples of a batch and updates the reasons of the others, atomically. Throws `SystemError`.
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
    // A line that a crash cut off must not make the next line unreadable.
    let isCut = status.st_size > 0 && pread(descriptor, &last, 1, status.st_size - 1) == 1 && last != UInt8(ascii: "\n")
    let bytes = isCut ? [UInt8(ascii: "\n")] + bytes : bytes
    let code = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
    guard code == 0 else { throw SystemError("write", path, code: code) }
    guard fsync(descriptor) == 0 else { throw SystemError("fsync", path) }
  }
}
