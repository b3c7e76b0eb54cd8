import Foundation
import HealthModel
import OperatingSystem

/// What Home Assistant has of one statistic, as far as is known here, in a file: a line for each day in UTC that says which
/// hours it has and what its numbers looked like.
///
///     hpeer history 1 kcal
///     19813 ffff00 8f3b1c… 77aa02…
///     last 475535 sum 812345.5
///
/// The last line has the newest hour that Home Assistant has confirmed, in hours since 1970, and one of its numbers: a
/// database without it is another one, or an older copy.
///
/// Where the file is missing, or is none of these, nothing is known: then the series is cleared and sent again.
struct HistoryMemory: Sendable {
  struct Day: Hashable, Sendable {
    /// A bit for each hour from 0 to 23 that Home Assistant may have.
    var hours: UInt32
    /// Of the hours; 0 of a day that is just being sent.
    var print: UInt64
    /// Of the day as a whole.
    var whole: UInt64
  }

  /// An hour as Home Assistant was given it.
  struct Row: Hashable, Sendable {
    /// Since 1970 in UTC.
    var hour: Int64
    /// `sum` or `mean`.
    var name: String
    var number: Double
  }

  private static let longest = 16 * 1_024 * 1_024

  var days: [Int: Day] = [:]
  /// The newest hour that was confirmed; `nil` where that is not known.
  var last: Row?
  let unit: String
  private let path: String

  private init(unit: String, path: String) { (self.unit, self.path) = (unit, path) }

  /// Knows nothing.
  static func empty(_ entity: HomeAssistantEntity, in folder: String) -> HistoryMemory {
    HistoryMemory(unit: entity.unit ?? "-", path: path(entity, folder))
  }

  /// `nil` where nothing is known.
  static func read(_ entity: HomeAssistantEntity, in folder: String) async -> HistoryMemory? {
    let memory = empty(entity, in: folder)
    return await onThread { _ in
      guard let size = try? FileManager.default.attributesOfItem(atPath: memory.path)[.size] as? Int, size <= longest,
        let data = FileManager.default.contents(atPath: memory.path)
      else { return nil }
      return memory.parsed(String(decoding: data, as: UTF8.self))
    }
  }

  /// Replaces the file in one step. Throws `SystemError`.
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

  /// From now on nothing is known.
  func forget() async {
    await onThread { [path] _ in _ = unlink(path) }
  }

  /// Of no statistic anything is known. Throws `SystemError`.
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
    // A file that was cut has no last line break.
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
