import Cryptography
import Foundation
import Glibc
import HealthModel
import OperatingSystem

/// The saved state of a daily-summary destination: the days the other side has, with a fingerprint of each. It is a
/// file, to which a line is added for each day sent.
///
///     over 3e7a…-1f
///     first 20600
///     20600 3f2a…
///
/// The initial days are sent again if the file is missing.
struct DailyMemory: Sendable {
  /// The years 1 to 9999, in days since 1970-01-01; other days in a damaged file are ignored.
  private static let years = -719_162...2_932_896
  private static let longest = 64 * 1_024 * 1_024

  /// The first day to send, in days since 1970-01-01; `nil` before the first delivery.
  private(set) var first: Int?
  /// The key of the last delivery that started over.
  private var over: String?
  private(set) var prints: [Int: String] = [:]
  private let path: String

  private init(path: String) { self.path = path }

  static func read(in folder: String) async -> DailyMemory {
    let path = "\(folder)/days.txt"
    return await onThread { _ in
      var memory = DailyMemory(path: path)
      guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size <= longest,
        let data = FileManager.default.contents(atPath: path)
      else { return memory }
      // A line that was cut off is ignored.
      for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
        let words = line.split(separator: " ")
        guard words.count == 2 else { continue }
        if words[0] == "over" { memory.over = String(words[1]) }
        if words[0] == "first", let day = Int(words[1]), years.contains(day) { memory.first = day }
        if let day = Int(words[0]), years.contains(day), words[1].count == 16 { memory.prints[day] = String(words[1]) }
      }
      return memory
    }
  }

  /// The fingerprint of a day whose content at the other side is unknown.
  static let doubtful = String(repeating: "-", count: 16)
  /// The fingerprint of a day that was never sent because it had no content.
  static let unsent = String(repeating: ".", count: 16)

  func hasSent(_ day: Int) -> Bool { prints[day].map { $0 != Self.unsent } ?? false }

  /// Starts with this day. Throws `SystemError`.
  ///
  /// - Parameter trusts: whether the other side still has what was sent; otherwise all of it is sent again.
  mutating func begin(with day: Int, trusts: Bool) async throws {
    first = day
    if !trusts { doubtSent(from: .min) }
    try await write()
  }

  /// Starts over with this day, unless an earlier attempt of the same delivery has: the days that it sent are there.
  /// Throws `SystemError`.
  mutating func beginAnew(with day: Int, _ key: DeliveryKey) async throws {
    guard over != key.description else { return }
    over = key.description
    // Earlier days that were sent before continue to be updated.
    try await begin(with: min(day, first ?? day), trusts: false)
  }

  /// Marks days that the other side may have lost, to be sent with the next batch for them. Throws `SystemError`.
  ///
  /// - Parameter day: the first of these days; `nil` for all.
  mutating func doubt(from day: Int?) async throws {
    guard first != nil, !prints.isEmpty else { return }
    doubtSent(from: day ?? .min)
    try await write()
  }

  private mutating func doubtSent(from first: Int) {
    for day in prints.keys where day >= first && hasSent(day) { prints[day] = Self.doubtful }
  }

  private func write() async throws {
    let days = prints.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    let head = [over.map { "over \($0)" }, first.map { "first \($0)" }].compactMap(\.self)
    let bytes = Array((head + days).map { $0 + "\n" }.joined().utf8)
    try await onThread { [path] _ in
      try PrivateFile.makeDirectory(URL(filePath: path).deletingLastPathComponent().path)
      try PrivateFile.replace(path, bytes)
    }
  }

  /// Records days that the other side has accepted. Throws `SystemError`.
  mutating func add(_ days: [Int: String]) async throws {
    if days.isEmpty { return }
    prints.merge(days) { $1 }
    let text = days.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
    let bytes = Array(text.utf8)
    try await onThread { [path] _ in
      let descriptor = try PrivateFile.open(path, O_WRONLY | O_CREAT | O_APPEND)
      defer { close(descriptor) }
      let code = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
      guard code == 0 else { throw SystemError("write", path, code: code) }
    }
  }

  static func print(_ object: [String: JSONValue]) throws -> String {
    let text = try CanonicalJSON.encode(JSONValue.object(object))
    return SHA256.hash(data: Data(text.utf8)).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
