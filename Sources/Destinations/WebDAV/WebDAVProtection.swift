import Foundation
import Glibc
import OperatingSystem

/// What a WebDAV server does to keep two writers apart, as it was found out by writing a file there.
struct WebDAVProtection: Codable, Hashable, Sendable {
  /// It looks at `If-None-Match` before it writes.
  var heedsConditions: Bool
  /// A file that was just written has an ETag for which `If-Match` holds: a strong one (RFC 9110, section 8.8.3).
  var hasStrongTags: Bool
  /// It gives exclusive write locks (RFC 4918, section 6), and no other writer one meanwhile. Not asked where it has no
  /// use.
  var hasLocks: Bool

  /// Whether files are written under a lock. All writers of a server must come to the same answer.
  var needsLocks: Bool { hasLocks && !(heedsConditions && hasStrongTags) }
  /// Whether two writers may lose nothing at all.
  var isEnough: Bool { heedsConditions || hasLocks }
}

/// Finds out once what a server does, and keeps it in a file: without that file, it is found out again.
actor WebDAVProtectionMemory {
  private struct Kept: Codable {
    var url: String
    var protection: WebDAVProtection
  }

  private static let longest = 16 * 1_024

  private let url: String
  private let path: String
  private var known: WebDAVProtection?

  /// - Parameters:
  ///   - url: of the collection; another one is found out anew.
  ///   - folder: of the destination's own.
  init(url: String, folder: String) {
    self.url = url
    path = "\(folder)/webdav.json"
  }

  /// What is known, or else what `probe` finds out.
  func value(_ probe: @Sendable () async throws -> WebDAVProtection) async throws -> WebDAVProtection {
    if let known { return known }
    let (path, url) = (path, url)
    let kept = await onThread { _ -> WebDAVProtection? in
      guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size <= Self.longest,
        let data = FileManager.default.contents(atPath: path),
        let kept = try? JSONDecoder().decode(Kept.self, from: data), kept.url == url
      else { return nil }
      return kept.protection
    }
    if let kept {
      known = kept
      return kept
    }
    // Of two who ask at once both find out: the same.
    let found = try await probe()
    known = found
    let bytes = Array(try JSONEncoder().encode(Kept(url: url, protection: found)))
    // Where it cannot be kept, it is found out again.
    try? await onThread { _ in
      try PrivateFile.makeDirectory(URL(filePath: path).deletingLastPathComponent().path)
      try PrivateFile.replace(path, bytes)
    }
    return found
  }

  /// It was not so: it is found out again.
  func forget() async {
    known = nil
    let path = path
    await onThread { _ in _ = unlink(path) }
  }
}
