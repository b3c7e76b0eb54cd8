import Foundation
import HealthModel
import OperatingSystem

/// The last few things that a place has taken, in a file: a place that has none of them any more has lost what it was given.
/// One that a person deletes there says nothing.
///
///     hpeer-3f2a….ics
///     hpeer-77aa….ics
struct LastDelivered: Sendable {
  /// How many there must be before anything is said of the place, and are kept.
  static let count = 3
  private static let longest = 16 * 1_024

  private let path: String

  init(in stateFolder: String) { path = "\(stateFolder)/last-delivered.txt" }

  /// Oldest first; fewer than ``count`` where no more is known.
  func read() async -> [String] {
    await onThread { [path] _ in
      guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size <= Self.longest,
        let data = FileManager.default.contents(atPath: path)
      else { return [] }
      let text = String(decoding: data, as: UTF8.self)
      // The last line of a file that was cut is not whole.
      return text.hasSuffix("\n") ? text.split(separator: "\n").map(String.init) : []
    }
  }

  /// Takes note of what the place has taken and what was deleted there. Throws `SystemError`.
  ///
  /// - Parameter names: of visible ASCII.
  func note(_ names: [String], deleted: Set<String> = []) async throws {
    if names.isEmpty, deleted.isEmpty { return }
    let known = await read()
    let new = names.suffix(Self.count)
    let kept = (known.filter { !deleted.contains($0) && !new.contains($0) } + new).suffix(Self.count)
    if Array(kept) == known { return }
    let bytes = Array(kept.map { $0 + "\n" }.joined().utf8)
    try await onThread { [path] _ in
      try PrivateFile.makeDirectory(URL(filePath: path).deletingLastPathComponent().path)
      try PrivateFile.replace(path, bytes)
    }
  }

  /// Asks for them, newest first, until the place has one.
  ///
  /// - Parameter isThere: asks the place for one of them.
  func examine(_ what: String, _ isThere: (String) async throws -> Bool) async throws -> PlaceExamination {
    let names = await read()
    guard names.count == Self.count else { return .intact }
    for name in names.reversed() where try await isThere(name) { return .intact }
    return .lost(reason: "the last \(Self.count) \(what) that it took are gone")
  }
}

/// The result of ``Destination/examine()``: whether a place still has what it was given.
public enum PlaceExamination: Hashable, Sendable {
  /// It has what it was given, or it cannot tell.
  case intact
  /// Its values are of an earlier day, or cannot be read: ``Destination/mend()`` brings them up to date.
  case stale
  /// It has lost something that ``Destination/mend()`` gives back at once.
  ///
  /// - Parameter loss: what was lost, as the part of a sentence: `its sensors`.
  case incomplete(loss: String)
  /// It has lost what it was given, and everything is to be delivered again.
  ///
  /// - Parameter reason: how that is known, as the part of a sentence: `the file that hpeer left there is gone`.
  case lost(reason: String)
}
