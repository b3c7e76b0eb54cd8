import Foundation
import HealthModel
import HealthStore

/// Which versions of the files of a watched folder were dealt with, or are being dealt with: the mark of an activity.
///
/// A folder may have ten thousand files, and its mark is written twice for each of them. So it is read anew only where it is
/// not what was written last, and is no JSON, which takes ten times as long.
actor FolderMarks {
  /// By name. Names that Unicode calls equal are names of different files.
  typealias Versions = [[UInt8]: String]

  private let activity: String
  private let store: HealthStore
  private let time: AutomationClock
  private var mark: String?
  private var known: Versions = [:]

  init(activity: String, store: HealthStore, time: AutomationClock) {
    (self.activity, self.store, self.time) = (activity, store, time)
  }

  /// Throws ``StoreError``.
  func versions() async throws -> Versions {
    let stored = try await store.activities.known(activity, now: time.now()).mark
    if stored != mark { (mark, known) = (stored, stored.map(Self.decoded) ?? [:]) }
    return known
  }

  /// Throws ``StoreError``.
  func keep(_ versions: Versions) async throws {
    let mark = Self.encoded(versions)
    try await store.activities.setMark(mark, activity)
    (self.mark, known) = (mark, versions)
  }

  /// Names and versions by turns, each after a slash, which none of them has.
  private static func encoded(_ versions: Versions) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(versions.count * 80)
    for (name, version) in versions {
      bytes.append(slash)
      bytes += name
      bytes.append(slash)
      bytes += version.utf8
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func decoded(_ mark: String) -> Versions {
    guard mark.utf8.first == slash else {
      // As it was written before.
      let versions = (try? JSONDecoder().decode([String: String].self, from: Data(mark.utf8))) ?? [:]
      return Dictionary(versions.map { (Array($0.key.utf8), $0.value) }, uniquingKeysWith: { $1 })
    }
    let parts = mark.utf8.split(separator: slash, omittingEmptySubsequences: false).dropFirst()
    var versions: Versions = [:]
    for (index, part) in zip(parts.indices, parts)
    where (index - parts.startIndex) % 2 == 0 && index + 1 < parts.endIndex {
      versions[Array(part)] = String(decoding: Array(parts[index + 1]), as: UTF8.self)
    }
    return versions
  }

  private static let slash = UInt8(ascii: "/")
}
