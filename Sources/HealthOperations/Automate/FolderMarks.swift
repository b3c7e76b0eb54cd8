import Foundation
import HealthModel
import HealthStore

/// A store for the versions of a folder's files that were or are being handled, kept in the mark of an activity.
///
/// A folder may have ten thousand files, and the mark is written twice for each of them. So the mark is only decoded
/// if it differs from what was last written, and its format is not JSON, which is ten times slower.
actor FolderMarks {
  /// The versions by file name, in bytes because two names that Unicode considers equal may be two files.
  typealias Versions = [[UInt8]: String]

  private let activity: String
  private let store: HealthStore
  private let time: AutomationClock
  private var mark: String?
  private var known: Versions = [:]

  init(activity: String, store: HealthStore, time: AutomationClock) {
    (self.activity, self.store, self.time) = (activity, store, time)
  }

  /// Returns the stored versions. Throws ``StoreError``.
  func versions() async throws -> Versions {
    let stored = try await store.activities.known(activity, now: time.now()).mark
    if stored != mark { (mark, known) = (stored, stored.map(Self.decoded) ?? [:]) }
    return known
  }

  /// Stores the versions. Throws ``StoreError``.
  func keep(_ versions: Versions) async throws {
    let mark = Self.encoded(versions)
    try await store.activities.setMark(mark, activity)
    (self.mark, known) = (mark, versions)
  }

  /// Encodes names and versions alternately, each after a slash, which neither can contain.
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
      // Earlier versions wrote JSON.
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
