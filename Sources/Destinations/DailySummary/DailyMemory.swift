import Cryptography
import Foundation
import Glibc
import HealthModel
import OperatingSystem

/// Which days the other side has, and what they looked like: a file to which a line is added for each.
///
///     over 3e7a…-1f
///     first 20600
///     20600 3f2a…
///
/// Where the file is gone, the days of the beginning are sent again.
struct DailyMemory: Sendable {
  /// The years 1 to 9999, in days since 1970-01-01: what a damaged file says beyond them is none of its days.
  private static let years = -719_162...2_932_896
  private static let longest = 64 * 1_024 * 1_024

  /// The first day that is ever sent, in days since 1970-01-01; `nil` before anything was.
  private(set) var first: Int?
  /// The key of the delivery that began anew last.
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
      // A line that was cut in the middle is none.
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

  /// What stands for a day that the other side may have in any shape.
  static let doubtful = String(repeating: "-", count: 16)
  /// What stands for a day that the other side has never been sent, as there was nothing of it.
  static let unsent = String(repeating: ".", count: 16)

  func hasSent(_ day: Int) -> Bool { prints[day].map { $0 != Self.unsent } ?? false }

  /// Begins with this day. Throws `SystemError`.
  ///
  /// - Parameter trusts: whether the other side still has what it was sent; otherwise all of it is to be sent again.
  mutating func begin(with day: Int, trusts: Bool) async throws {
    first = day
    if !trusts { doubtSent(from: .min) }
    try await write()
  }

  /// Begins anew with this day, unless an earlier attempt of the same delivery has: what that has sent is there. Throws
  /// `SystemError`.
  mutating func beginAnew(with day: Int, _ key: DeliveryKey) async throws {
    guard over != key.description else { return }
    over = key.description
    // Days that were followed before are followed on.
    try await begin(with: min(day, first ?? day), trusts: false)
  }

  /// The other side may have lost these days: each is sent again when a batch has to do with it. Throws `SystemError`.
  ///
  /// - Parameter day: the first of them; `nil` for all.
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

  /// Takes note of what the other side has taken. Throws `SystemError`.
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
