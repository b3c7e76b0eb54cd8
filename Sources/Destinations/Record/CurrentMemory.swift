import Foundation
import HealthModel
import OperatingSystem

/// The saved state of current values at a place: the last delivery, and the day of the totals.
///
///     delivery 3e7a…-1f
///     attempted 3e7a…-20
///     day 20600
struct CurrentMemory: Hashable, Sendable {
  private static let longest = 4_096

  /// The key of the delivery.
  var delivery: String
  /// The key of a later delivery that the place may have, if hpeer ended before its success was saved.
  var attempted: String?
  /// The day of all totals, in days since 1970-01-01 in the home time zone.
  var day: Int

  /// The keys of deliveries that the place may have.
  var deliveries: Set<String> { Set([delivery, attempted].compactMap(\.self)) }

  /// Reads the state, or returns `nil` if no delivery is known.
  static func read(in stateFolder: String) async -> CurrentMemory? {
    await onThread { _ in
      let path = path(stateFolder)
      guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size <= longest,
        let data = FileManager.default.contents(atPath: path)
      else { return nil }
      var members: [Substring: String] = [:]
      let text = String(decoding: data, as: UTF8.self)
      for line in text.split(separator: "\n") {
        let words = line.split(separator: " ")
        if words.count == 2 { members[words[0]] = String(words[1]) }
      }
      guard text.hasSuffix("\n"), let delivery = members["delivery"], let day = members["day"].flatMap({ Int($0) })
      else { return nil }
      return CurrentMemory(delivery: delivery, attempted: members["attempted"], day: day)
    }
  }

  /// Writes the state to the file. Throws `SystemError`.
  func write(in stateFolder: String) async throws {
    let attempted = attempted.map { "attempted \($0)\n" } ?? ""
    let bytes = Array("delivery \(delivery)\n\(attempted)day \(day)\n".utf8)
    try await onThread { _ in
      try PrivateFile.makeDirectory(stateFolder)
      try PrivateFile.replace(Self.path(stateFolder), bytes)
    }
  }

  private static func path(_ stateFolder: String) -> String { "\(stateFolder)/current.txt" }
}

extension RecordReader {
  /// The current day in the home time zone, in days since 1970-01-01.
  var today: Int { zone.dayNumber(at: Timestamp.now.seconds) }
}

/// The error text for a place where another record has its values under the same name.
enum ForeignRecord {
  /// Returns the reason as part of a sentence.
  ///
  /// - Parameter place: the location of the values: `below hpeer/me`.
  static func reason(_ place: String) -> String {
    "another health record keeps its values \(place): set person to another name, so that the two do not mix"
  }
}
