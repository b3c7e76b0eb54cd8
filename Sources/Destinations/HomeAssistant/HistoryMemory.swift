import Foundation
import HealthModel
import OperatingSystem

/// The known content of one statistic in Home Assistant, kept in a file: for each day in UTC, the hours that were
/// sent and fingerprints of their numbers.
///
///     hpeer history 1 kcal
///     19813 ffff00 8f3b1c… 77aa02…
///     last 475535 sum 812345.5
///
/// The last line has the newest confirmed hour, in hours since 1970, and one of its numbers. A database without that
/// number is a different one or an older copy.
///
/// If the file is missing or invalid, nothing is known, and the statistic is cleared and sent again.
struct HistoryMemory: Sendable {
  struct Day: Hashable, Sendable {
    /// The hours that Home Assistant may have, a bit for each hour from 0 to 23.
    var hours: UInt32
    /// The fingerprint of the hours; 0 while the day is being sent.
    var print: UInt64
    /// The fingerprint of the whole day's number.
    var whole: UInt64
  }

  /// An hour as it was sent to Home Assistant.
  struct Row: Hashable, Sendable {
    /// The number of hours since 1970 in UTC.
    var hour: Int64
    /// The name of the number: `sum` or `mean`.
    var name: String
    var number: Double
  }

  private static let longest = 16 * 1_024 * 1_024

  var days: [Int: Day] = [:]
  /// The newest confirmed hour; `nil` if it is unknown.
  var last: Row?
  let unit: String
  private let path: String

  private init(unit: String, path: String) { (self.unit, self.path) = (unit, path) }

  /// Returns the state of a statistic of which nothing is known.
  static func empty(_ entity: HomeAssistantEntity, in folder: String) -> HistoryMemory {
    HistoryMemory(unit: entity.unit ?? "-", path: path(entity, folder))
  }

  /// Reads the state of a statistic, or returns `nil` if nothing is known.
  static func read(_ entity: HomeAssistantEntity, in folder: String) async -> HistoryMemory? {
    let memory = empty(entity, in: folder)
    return await onThread { _ in
      guard let size = try? FileManager.default.attributesOfItem(atPath: memory.path)[.size] as? Int, size <= longest,
        let data = FileManager.default.contents(atPath: memory.path)
      else { return nil }
      return memory.parsed(String(decoding: data, as: UTF8.self))
    }
  }

  /// Replaces the file atomically. Throws `SystemError`.
  func write() async throws {
    var text = "hpeer history 1 \(unit)\n"
    for (day, kept) in days.sorted(by: { $0.key < $1.key }) {
      text += "\(day) \(Self.hex(kept.hours)) \(Self.hex(kept.print)) \(Self.hex(kept.whole))\n"
    }
    if let last { text += "last \(last.hour) \(last.name) \(last.number)\n" }
    let bytes = Array(text.utf8)
    try await onThread { [path] _ in
      try PrivateFile.makeDirectory(URL(filePath: path).deletingLastPathComponent().path)
      try PrivateFile.replace(path, bytes)
    }
  }

  /// Deletes the file, so that nothing is known.
  func forget() async {
    await onThread { [path] _ in _ = unlink(path) }
  }

  /// Deletes the files of all statistics. Throws `SystemError`.
  static func forgetAll(in folder: String) async throws {
    try await onThread { _ throws(SystemError) in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      for name in names where name.hasPrefix("history-") && name.hasSuffix(".txt") {
        guard unlink("\(folder)/\(name)") == 0 || errno == ENOENT else { throw SystemError("delete", name) }
      }
    }
  }

  private static func path(_ entity: HomeAssistantEntity, _ folder: String) -> String {
    "\(folder)/history-\(entity.key).txt"
  }

  private static func hex(_ number: some BinaryInteger) -> String { String(number, radix: 16) }

  private func parsed(_ text: String) -> HistoryMemory? {
    var lines = text.split(separator: "\n")[...]
    // A file that was cut off has no line break at its end.
    guard text.hasSuffix("\n"), lines.popFirst() == "hpeer history 1 \(unit)" else { return nil }
    var memory = self
    for line in lines {
      let words = line.split(separator: " ")
      if words.count == 4, words[0] == "last" {
        guard let hour = Int64(words[1]), let number = Double(words[3]) else { return nil }
        memory.last = Row(hour: hour, name: String(words[2]), number: number)
        continue
      }
      guard words.count == 4, let day = Int(words[0]), let hours = UInt32(words[1], radix: 16),
        let print = UInt64(words[2], radix: 16), let whole = UInt64(words[3], radix: 16)
      else { return nil }
      memory.days[day] = Day(hours: hours, print: print, whole: whole)
    }
    return memory
  }
}
