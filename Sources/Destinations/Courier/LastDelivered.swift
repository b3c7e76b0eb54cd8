import Foundation
import HealthModel
import OperatingSystem

/// A file with the names of the last few objects that a place accepted. If the place has none of them any more, it
/// has lost what it was given. A single missing object proves nothing: a person may have deleted it.
///
///     hpeer-3f2a….ics
///     hpeer-77aa….ics
struct LastDelivered: Sendable {
  /// The number of names that are kept, and that must be known before a loss can be reported.
  static let count = 3
  private static let longest = 16 * 1_024

  private let path: String

  init(in stateFolder: String) { path = "\(stateFolder)/last-delivered.txt" }

  /// Returns the names, oldest first; fewer than ``count`` if no more are known.
  func read() async -> [String] {
    await onThread { [path] _ in
      guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size <= Self.longest,
        let data = FileManager.default.contents(atPath: path)
      else { return [] }
      let text = String(decoding: data, as: UTF8.self)
      // A file that was cut off may end in a partial name.
      return text.hasSuffix("\n") ? text.split(separator: "\n").map(String.init) : []
    }
  }

  /// Records which objects the place has accepted and deleted. Throws `SystemError`.
  ///
  /// - Parameter names: visible ASCII only.
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

  /// Asks the place for the names, newest first, until one is found.
  ///
  /// - Parameters:
  ///   - what: a noun in the plural for the objects, used in the reason.
  ///   - isThere: asks the place for one of them.
  func examine(_ what: String, _ isThere: (String) async throws -> Bool) async throws -> PlaceState {
    let names = await read()
    guard names.count == Self.count else { return .intact }
    for name in names.reversed() where try await isThere(name) { return .intact }
    return .lost(reason: "the last \(Self.count) \(what) that it took are gone")
  }
}

/// The result of ``Destination/examine()``: whether a place still has what it was given.
public enum PlaceState: Hashable, Sendable {
  /// The place has what it was given, or it cannot tell.
  case intact
  /// The place shows values of an earlier day or values that cannot be read; ``Destination/mend()`` updates them.
  case stale
  /// The place has lost something that ``Destination/mend()`` can restore at once.
  ///
  /// - Parameter loss: the loss, as part of a sentence: `its sensors`.
  case incomplete(loss: String)
  /// The place has lost what it was given, and everything must be delivered again.
  ///
  /// - Parameter reason: the evidence, as part of a sentence: `the file that hpeer left there is gone`.
  case lost(reason: String)
}
